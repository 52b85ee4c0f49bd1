import { describe, expect, it } from 'vitest'
import { JsonText } from './json-text.js'
import { normaliseResult } from './normalise-result.js'
import { answer, writeResult } from './tool-result.js'

const wire = (raw: unknown, ignored: readonly string[] = []) =>
  JSON.parse(writeResult(normaliseResult(raw), { ignored, boundedBy: null }))

describe('normaliseResult and writeResult', () => {
  it('leave a result with content as it is', () => {
    expect(wire(answer('text', { structured: { a: 1 }, isError: false }))).toEqual({
      content: [{ type: 'text', text: 'text' }],
      structuredContent: { a: 1 },
      isError: false,
    })
  })

  it('put JSON text in place as it is', () => {
    const envelope = '{"b":[1,"\\u0000"]}'
    expect(
      wire(answer(envelope, { structured: { a: new JsonText(envelope), c: undefined } })),
    ).toEqual({
      content: [{ type: 'text', text: envelope }],
      structuredContent: { a: { b: [1, '\u0000'] } },
    })
  })

  it('keep notes and ignored arguments under _meta.crux', () => {
    expect(wire(answer('t', { warning: 'w' }), ['x'])).toEqual({
      content: [{ type: 'text', text: 't' }],
      _meta: { crux: { warning: 'w', ignored_arguments: ['x'] } },
    })
    expect(wire(answer('t'))).not.toHaveProperty('_meta')
  })

  it('wrap an object without content into one text', () => {
    expect(wire({ repos: [1] })).toEqual({ content: [{ type: 'text', text: '{"repos":[1]}' }] })
    expect(wire('plain')).toEqual({ content: [{ type: 'text', text: '"plain"' }] })
    expect(wire(undefined)).toEqual({ content: [{ type: 'text', text: 'null' }] })
  })

  it('take a payload apart from its envelope, and mirror the envelope', () => {
    const envelope = { receipts_used: [] }
    expect(wire({ payload: answer('t', { structured: { rows: [] } }), envelope })).toEqual({
      content: [{ type: 'text', text: 't' }],
      structuredContent: { rows: [], envelope },
      _meta: { envelope },
    })
    expect(wire({ payload: [1, 2], envelope })).toEqual({
      content: [{ type: 'text', text: '[1,2]' }],
      structuredContent: { value: [1, 2], envelope },
      _meta: { envelope },
    })
  })
})
