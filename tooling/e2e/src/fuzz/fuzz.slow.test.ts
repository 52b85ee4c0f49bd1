import fc from 'fast-check'
import { Pool } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createSandbox } from '../sandbox.js'
import { expectRpc, judgeRpc } from './expected-answer.js'
import { type FuzzedRequest, type GateAnswer, httpRequests } from './http-requests.js'
import { heldBytes, MEMORY_PROBE } from './memory.js'
import { bodies, listedTool } from './messages.js'
import { judgeRaw, rawBytes } from './raw-bytes.js'

const COUNT = Number(process.env.CRUX_E2E_FUZZ ?? 100_000)
// The same messages each time, so that it is the change at hand that fails; others by another seed.
const SEED = Number(process.env.CRUX_E2E_SEED ?? 193_691)
// Sent at once.
const BATCH = 250
const TOKENS = ['anna-'.padEnd(40, '0'), 'ben-'.padEnd(40, '0')] as const
const MIB = 1024 * 1024
// Caches fill and code is compiled while this share is sent; memory is compared from then on.
const WARM_UP = 0.3
// For what the messages stored, which stays, and for rings that keep the last calls.
const MAX_GROWTH_BYTES = 16 * MIB

const gateBody = z.looseObject({ error: z.string() })
const toolsList = z.object({ result: z.object({ tools: z.array(listedTool) }) })

describe('a daemon that is sent generated messages', () => {
  it(`gives ${COUNT} of them documented answers, and holds no more memory (seed ${SEED})`, async () => {
    process.stdout.write(`fuzz: seed ${SEED}, ${COUNT} messages\n`)
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const [anna, ben] = TOKENS
    const daemon = await box.startDaemon({
      ...MEMORY_PROBE,
      CRUX_AGENT_TOKENS: `anna:${anna},ben:${ben}`,
      CORECRUXD_FEATURE_MEMORY_ACK: '1',
      CORECRUXD_FEATURE_REUSE_CHECK: '1',
      CORECRUXD_FEATURE_AUDIT_ENVELOPE: '1',
    })
    const { origin, port } = new URL(daemon.mcpUrl)
    const pool = new Pool(origin, { connections: 64, pipelining: 1 })
    onTestFinished(() => pool.destroy())

    const send = async ({ method, path, headers, body }: FuzzedRequest) => {
      const answer = await pool.request({ method, path, headers, body })
      const isStream = answer.headers['content-type'] === 'text/event-stream'
      if (isStream) answer.body.on('error', () => undefined).destroy()
      return { status: answer.statusCode, text: isStream ? '' : await answer.body.text(), isStream }
    }
    const post = (body: Uint8Array, token: string) =>
      send({
        method: 'POST',
        path: '/mcp',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body,
      })

    const listing = await post(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), anna)
    const { tools } = toolsList.parse(JSON.parse(listing.text)).result
    const names = new Set(tools.map(({ name }) => name))

    const judgeMessage = async (body: Uint8Array, token: string): Promise<string | undefined> => {
      const { status, text } = await post(body, token)
      return judgeRpc(expectRpc(body, names), status, text)
    }
    const judgeRequest = async (
      request: FuzzedRequest,
      expected: GateAnswer | undefined,
    ): Promise<string | undefined> => {
      const { status, text, isStream } = await send(request)
      if (expected !== undefined) return judgeGate(expected, request, status, text)
      if (request.method === 'POST') return judgeRpc(expectRpc(request.body, names), status, text)
      if (isStream) return status === 200 ? undefined : `HTTP ${status} with a stream`
      // A stream is refused while many are open, or under a session of the other agent.
      if (String(request.headers.accept).includes('text/event-stream')) {
        return judgeOneOf(STREAM_REFUSALS, request, status, text)
      }
      return status === 200 && text.includes('"serverInfo"') ? undefined : `HTTP ${status} ${text}`
    }

    const message = bodies(tools)
    const one = fc.oneof(
      {
        weight: 32,
        arbitrary: fc.record({ body: message, token: fc.constantFrom(...TOKENS) }),
      },
      { weight: 6, arbitrary: httpRequests(Number(port), TOKENS, message) },
      { weight: 2, arbitrary: rawBytes().map((raw) => ({ raw })) },
    )
    const judge = (sent: typeof one extends fc.Arbitrary<infer T> ? T : never) => {
      if ('raw' in sent) return judgeRaw(Number(port), sent.raw)
      if ('request' in sent) return judgeRequest(sent.request, sent.expected)
      return judgeMessage(sent.body, sent.token)
    }
    const run = async (share: number, seed: number): Promise<void> => {
      const batches = fc.array(one, { minLength: BATCH, maxLength: BATCH })
      const property = fc.asyncProperty(batches, async (batch) => {
        const problems = await Promise.all(batch.map(judge))
        const at = problems.findIndex((problem) => problem !== undefined)
        if (at >= 0) throw new Error(`${problems[at]}\n${describeSent(batch[at])}`)
      })
      const numRuns = Math.max(1, Math.round((COUNT * share) / BATCH))
      // The message at fault is named; making its batch smaller would say no more, and take minutes.
      const outcome = await fc.check(property, { seed, numRuns, endOnFailure: true })
      if (outcome.failed) throw outcome.errorInstance
    }

    await run(WARM_UP, SEED)
    const before = await heldBytes(daemon)
    await run(1 - WARM_UP, SEED + 1)
    const after = await heldBytes(daemon)

    const grownMiB = Math.round(((after - before) / MIB) * 10) / 10
    process.stdout.write(`fuzz: ${Math.round(after / MIB)} MiB held, ${grownMiB} MiB more\n`)
    expect(daemon.stderr()).not.toMatch(/failed on this side|an MCP request failed/)
    expect(after - before).toBeLessThan(MAX_GROWTH_BYTES)
    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })
})

const STREAM_REFUSALS: readonly GateAnswer[] = [
  { status: 403, error: 'sse_session_owner_mismatch' },
  { status: 429, error: 'sse_session_limit' },
]

function judgeGate(
  expected: GateAnswer,
  { method }: FuzzedRequest,
  status: number,
  text: string,
): string | undefined {
  const wanted = `expected HTTP ${expected.status} ${expected.error ?? ''}`
  if (status !== expected.status) return `HTTP ${status} ${text.slice(0, 200)}, ${wanted}`
  if (method === 'HEAD' || expected.error === undefined) {
    return text === '' ? undefined : `a body, ${wanted}`
  }
  const body = gateBody.safeParse(JSON.parse(text))
  return body.success && body.data.error === expected.error ? undefined : `${text}, ${wanted}`
}

function judgeOneOf(
  answers: readonly GateAnswer[],
  request: FuzzedRequest,
  status: number,
  text: string,
): string | undefined {
  const problems = answers.map((answer) => judgeGate(answer, request, status, text))
  return problems.includes(undefined) ? undefined : problems.join('; ')
}

/** What was sent, with bytes as text. */
function describeSent(sent: unknown): string {
  return JSON.stringify(sent, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : bufferText(value),
  ).slice(0, 4_000)
}

/** A buffer has become `{type, data}` before a replacer sees it. */
function bufferText(value: unknown): unknown {
  const isBuffer = typeof value === 'object' && value !== null && 'data' in value && 'type' in value
  if (!isBuffer || value.type !== 'Buffer' || !Array.isArray(value.data)) return value
  return Buffer.from(value.data).toString('latin1')
}
