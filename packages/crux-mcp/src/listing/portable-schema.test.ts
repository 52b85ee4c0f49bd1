import { describe, expect, it } from 'vitest'
import { portabilityProblems } from './portable-schema.js'

const text = { type: 'string', description: 'A word.' }

describe('portabilityProblems', () => {
  it('finds none in a plain object, nested ones and lists included', () => {
    expect(
      portabilityProblems({
        type: 'object',
        properties: {
          word: text,
          words: { type: 'array', items: text },
          options: { type: 'object', properties: { strict: { type: 'boolean' } } },
          either: { anyOf: [text, { type: 'integer' }] },
        },
        required: ['word'],
        'x-crux-tier': 'free',
      }),
    ).toEqual([])
    expect(portabilityProblems({ type: 'object' })).toEqual([])
  })

  it.each([
    [{ type: 'string' }, 'the root is no object; write "type": "object"'],
    [{ properties: {} }, 'the root is no object; write "type": "object"'],
    [{ type: 'object', oneOf: [] }, 'the root holds oneOf; describe the rule in words'],
    [{ type: 'object', anyOf: [text] }, 'the root holds anyOf; describe the rule in words'],
    [{ type: 'object', properties: [] }, 'the root has properties that are no object'],
    [{ type: 'object', properties: { a: true } }, 'a is no schema object'],
    [{ type: 'object', $defs: {} }, 'the root holds $defs; write the schema in its place'],
    [
      { type: 'object', properties: { a: { $ref: '#/x' } } },
      'a holds $ref; write the schema in its place',
    ],
    [
      { type: 'object', properties: { a: { type: 'array', items: { $ref: '#/x' } } } },
      'a[] holds $ref; write the schema in its place',
    ],
    [
      { type: 'object', properties: { a: { anyOf: [{ $ref: '#/x' }] } } },
      'a.anyOf holds $ref; write the schema in its place',
    ],
    [
      { type: 'object', properties: { a: { properties: { b: { type: ['string', 'null'] } } } } },
      'a.b has a list of types; name one',
    ],
    [
      { type: 'object', properties: { 'a[]': text } },
      'the root has an argument "a[]"; use A-Z a-z 0-9 and _',
    ],
  ])('refuses %j', (schema, problem) => {
    expect(portabilityProblems(schema)).toContain(problem)
  })

  it('stops at a depth that no list needs', () => {
    let schema: Record<string, unknown> = text
    for (let i = 0; i < 20; i++) schema = { type: 'object', properties: { a: schema } }
    expect(portabilityProblems(schema)).toEqual([
      expect.stringMatching(/^a(\.a){16} is nested deeper than 16 levels$/),
    ])
  })
})
