import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callSignature } from './call-signature.js'

/** The same members in another order, on every level. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  )
}

describe('callSignature', () => {
  it('writes sorted arguments as JSON (MCP-11.6-pipe-trace)', () => {
    expect(callSignature('query_facts', { top_k: 5, query: 'a "b"', entity: null })).toBe(
      'query_facts(entity=null,query="a \\"b\\"",top_k=5)',
    )
    expect(callSignature('list_entities', {})).toBe('list_entities()')
    expect(callSignature('t', { b: { z: [1, { y: true, x: 'v' }], a: 0.5 }, a: [] })).toBe(
      't(a=[],b={a=0.5,z=[1,{x="v",y=true}]})',
    )
  })

  it('leaves out what turns pages, on the first level only', () => {
    const paging = [
      'offset',
      'cursor',
      'page',
      'page_token',
      'after',
      'before',
      'start',
      'from',
      'next',
      'continuation',
      'skip',
    ]
    const args = Object.fromEntries(paging.map((name) => [name, 'x']))
    expect(callSignature('t', { ...args, k: { cursor: 1 } })).toBe('t(k={cursor=1})')
  })

  it('is the same for the same arguments in any order, and survives deep nesting', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string(),
          fc.jsonValue().filter((value) => value !== undefined),
        ),
        (args) => {
          const again: Record<string, unknown> = JSON.parse(JSON.stringify(reversed(args)))
          expect(callSignature('t', again)).toBe(
            callSignature('t', JSON.parse(JSON.stringify(args))),
          )
        },
      ),
    )
    const deep: unknown = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
    expect(callSignature('t', { deep })).toMatch(/^t\(deep=\[+…\]+\)$/)
  })
})
