import { ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { openRelationsFile } from './relations-file.js'

/** A file in memory that may be changed, and the warnings about it. */
async function openFixture(text: string | undefined) {
  const clock = new ManualClock(0)
  const warnings: string[] = []
  const file = { text, changes: 0, reads: 0 }
  const relations = await openRelationsFile({
    path: 'relations.jsonl',
    clock,
    onWarning: (message) => warnings.push(message),
    fs: {
      stat: async () => {
        if (file.text === undefined) throw Object.assign(new Error('absent'), { code: 'ENOENT' })
        return { mtimeMs: file.changes, size: file.text.length, ino: 1 }
      },
      readFile: async () => {
        file.reads++
        return Buffer.from(file.text ?? '')
      },
    },
  })
  const write = (next: string | undefined) => {
    file.text = next
    file.changes++
  }
  return { clock, warnings, file, relations, write }
}

const relation = (over: object = {}) =>
  JSON.stringify({ tenant: 'acme', from: 'a.md', to: 'notes/b.md', ...over })

describe('openRelationsFile', () => {
  it('reads relations in both directions, the way back less sure', async () => {
    const { relations, warnings } = await openFixture(`${relation({ confidence: 0.9 })}\n`)
    expect(relations.of('acme', 'a.md')).toEqual([{ other: 'notes/b.md', confidence: 0.9 }])
    const [back] = relations.of('acme', 'notes/b.md')
    expect(back?.other).toBe('a.md')
    expect(back?.confidence).toBeCloseTo(0.6)
    expect(relations.names('acme')).toBe(2)
    expect(relations.of('rival', 'a.md')).toEqual([])
    expect(relations.names('rival')).toBe(0)
    expect(warnings).toEqual([])
  })

  it('names the lines that are no relations, and takes the others', async () => {
    const lines = [relation(), 'nonsense', '', relation({ confidence: 2 }), relation({ from: '' })]
    const { relations, warnings } = await openFixture(lines.join('\n'))
    expect(relations.of('acme', 'a.md')).toHaveLength(1)
    expect(warnings.map((one) => one.slice(0, 25))).toEqual([
      'relations.jsonl, line 2: ',
      'relations.jsonl, line 4: ',
      'relations.jsonl, line 5: ',
    ])
  })

  it('reads a file that changed again, at most once a second', async () => {
    const { clock, file, relations, write } = await openFixture(undefined)
    expect(relations.names('acme')).toBe(0)
    write(relation())
    await relations.refresh()
    expect(relations.names('acme')).toBe(0)
    clock.advance(1000)
    await Promise.all([relations.refresh(), relations.refresh()])
    expect(relations.names('acme')).toBe(2)
    clock.advance(1000)
    await relations.refresh()
    expect(file.reads).toBe(1)
    write(undefined)
    clock.advance(1000)
    await relations.refresh()
    expect(relations.names('acme')).toBe(0)
  })
})
