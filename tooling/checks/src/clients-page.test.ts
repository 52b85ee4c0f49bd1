import { type ClientLimits, surfaceSizes, tools } from 'crux-mcp'
import { describe, expect, it } from 'vitest'
import { clientsPage } from './clients-page.js'

const strict: ClientLimits = {
  id: 'strict',
  title: 'Strict',
  namePrefix: 's_',
  name: {
    value: /^(a|b)$/,
    source: 'https://strict.example/names',
    date: '2026-01-02',
    basis: 'reported',
  },
  tools: {
    value: 20,
    source: 'https://strict.example/tools',
    date: '2026-01',
    basis: 'documented',
  },
}

describe('clientsPage', () => {
  it('gives sizes, limits with their sources, and the surface that fits', () => {
    const page = clientsPage(
      [strict],
      [
        { surface: 'full', tools: 50, bytes: 50_000, tokens: 12_500 },
        { surface: 'dynamic', tools: 10, bytes: 10_000, tokens: 2_449 },
        { surface: 'minimal', tools: 4, bytes: 4_000, tokens: 1_000 },
      ],
    ).split('\n')
    for (const line of [
      '| `full` | 50 | 49 KiB | 12,500 |',
      '| `dynamic` | 10 | 10 KiB | 2,400 |',
      '| Strict | tools of all servers | 20 | documented: <https://strict.example/tools> | 2026-01 |',
      '| Strict | name, with the prefix `s_` | `^(a\\|b)$` | reported: <https://strict.example/names> | 2026-01-02 |',
      '| Strict | description | none stated |  |  |',
      '| Strict | 20 | `dynamic` |',
    ]) {
      expect(page).toContain(line)
    }
  })

  it('prints what the lists cost now', () => {
    const sizes = surfaceSizes(tools)
    for (const { surface, tools: count, bytes, tokens } of sizes) {
      process.stdout.write(
        `tools/list ${surface}: ${count} tools, ${bytes} bytes, ${tokens} tokens\n`,
      )
    }
    expect(sizes.map(({ surface }) => surface)).toEqual(['full', 'dynamic', 'minimal'])
    expect(sizes.map(({ bytes }) => bytes)).toEqual(
      sizes.map(({ bytes }) => bytes).sort((a, b) => b - a),
    )
  })
})
