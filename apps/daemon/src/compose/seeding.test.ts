import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tools } from 'crux-mcp'
import { bootstrapGroups } from 'crux-observe'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { VARIABLES } from '../config/variables.js'
import { corecruxctl } from '../corecruxctl.js'
import type { Daemon } from '../daemon.js'
import { runProgram } from '../testing/run-program.js'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'

const ENTRIES = bootstrapGroups(tools).flat()

/** Facts that the daemon stored itself. */
async function seeded(daemon: Daemon): Promise<{ key: string; version: number }[]> {
  const response = await fetch(`${daemon.httpUrl}/v1/memory/export?all=true`)
  return (await response.text())
    .split('\n')
    .filter((line) => line.includes('"seeded":true'))
    .map((line) => JSON.parse(line))
}

async function started(dataDir: string, facts = ENTRIES.length + 1): Promise<Daemon> {
  const { daemon } = await startTestDaemon(dataDir)
  await vi.waitFor(async () => expect(await seeded(daemon)).toHaveLength(facts), {
    timeout: 10_000,
    interval: 20,
  })
  return daemon
}

describe('bootstrap knowledge of a daemon', () => {
  it('is the same after two starts (MCP-11.12-seed-startup)', async () => {
    const dir = await temporaryFolder()
    const first = await started(dir)
    const before = await seeded(first)
    await first.stop()
    const second = await started(dir)
    await second.stop()
    const third = await started(dir)
    expect(await seeded(third)).toEqual(before)
  })

  it('gets back the one entry that is missing, and nothing else (MCP-11.12-seed-backfill)', async () => {
    const dir = await temporaryFolder()
    const first = await started(dir)
    const before = await seeded(first)
    await first.stop()
    // Lines without a trailer are read as they are, so one can be taken out.
    const path = join(dir, 'facts.jsonl')
    const [entry] = ENTRIES
    const kept = (await readFile(path, 'utf8'))
      .split('\n')
      .filter((line) => line.startsWith('{"op":"store"'))
      .map((line) => JSON.parse(line))
      .filter(({ fact }) => fact.entity !== entry?.entity)
      .map(({ op, fact }) => `${JSON.stringify({ op, fact })}\n`)
    const fresh = await temporaryFolder()
    await writeFile(join(fresh, 'facts.jsonl'), kept.join(''))
    const second = await started(fresh)
    const after = await seeded(second)
    expect(after.map(({ key }) => key).sort()).toEqual(before.map(({ key }) => key).sort())
    expect(after.slice(0, -1)).toEqual(before.filter(({ key }) => key !== entry?.key))
    expect(after.at(-1)?.key).toBe(entry?.key)
  })

  it('names only what exists', async () => {
    const { daemon } = await startTestDaemon(await temporaryFolder())
    const response = await fetch(`${daemon.httpUrl}/v1/openapi.json`)
    const openapi = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
    const routes = new Set(
      Object.entries(openapi.parse(await response.json()).paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      ),
    )
    const words = new Set(
      tools.flatMap((tool) => [tool.name, ...Object.keys(tool.inputSchema.properties)]),
    )
    // The parser prints its help by itself.
    const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    onTestFinished(() => printed.mockRestore())
    await runProgram(corecruxctl, ['--help'])
    const help = printed.mock.calls.flat().join('\n')
    const variables = new Set<string>(Object.values(VARIABLES).map(({ name }) => name))
    for (const { key, value } of ENTRIES) {
      // The outputs of tools are written by the tools themselves.
      if (key.endsWith(' output schema')) continue
      for (const [, text = ''] of value.matchAll(/`([^`]+)`/g)) {
        if (/^[A-Z]+ \//.test(text)) expect(routes, text).toContain(text)
        else if (text.startsWith('corecruxctl ')) expect(help).toContain(text)
        else expect(words, text).toContain(text)
      }
      for (const [name] of value.matchAll(/\bC(?:ORECRUXD|RUX)_[A-Z_]+/g)) {
        expect(variables, name).toContain(name)
      }
    }
  })
})
