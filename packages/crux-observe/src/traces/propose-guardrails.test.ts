import { describe, expect, it } from 'vitest'
import { proposeGuardrails } from './propose-guardrails.js'
import type { TraceEntry } from './trace-entry.js'

const entry = (signature: string | undefined, responseTokens: number): TraceEntry => ({
  tool: 't',
  sequence: 1,
  at: 0,
  effects: [],
  outcome: 'ok',
  responseTokens,
  ...(signature === undefined ? {} : { signature }),
})

describe('proposeGuardrails', () => {
  it('counts all answers but the first as wasted', () => {
    // Newest first, so the first call is the one of 100 tokens.
    const calls = [entry('a()', 30), entry('a()', 20), entry('b()', 5), entry('a()', 100)]
    expect(proposeGuardrails(calls, 3)).toEqual([
      {
        signature: 'a()',
        occurrences: 3,
        wastedTokens: 50,
        draft: expect.stringMatching(/^a\(\) was called 3 times.* 50 tokens.*token_budget/),
      },
    ])
    expect(proposeGuardrails(calls, 4)).toEqual([])
  })

  it('orders by waste, then by repeats, then by signature, and skips what has none', () => {
    const repeat = (signature: string | undefined, tokens: number, times: number) =>
      Array.from({ length: times }, () => entry(signature, tokens))
    const found = proposeGuardrails(
      [
        ...repeat('z()', 10, 3),
        ...repeat('c()', 20, 2),
        ...repeat('b()', 20, 2),
        ...repeat('big()', 500, 2),
        ...repeat(undefined, 900, 9),
      ],
      2,
    )
    expect(found.map(({ signature, wastedTokens }) => [signature, wastedTokens])).toEqual([
      ['big()', 500],
      ['z()', 20],
      ['b()', 20],
      ['c()', 20],
    ])
  })
})
