import { describe, expect, it } from 'vitest'
import { BUILT_IN_KINDS } from './built-in-kinds.js'
import { createKindRegistry } from './kind-registry.js'

const bare = { allowed_outgoing_edges: [], allowed_incoming_edges: [], description: '' }

function validateWith(json_schema: unknown, payload: unknown): () => void {
  const registry = createKindRegistry([{ kind: 'k', json_schema, ...bare }])
  return () => registry.validate('k', payload)
}

const prefix = "payload validation failed for kind 'k': "

describe('createKindRegistry', () => {
  it('lists kinds by name, each once', () => {
    const registry = createKindRegistry(BUILT_IN_KINDS)
    registry.register({ kind: 'apple', json_schema: {}, ...bare })
    expect(registry.list().map(({ kind }) => kind)).toEqual(['apple', 'capability', 'document'])
    expect(registry.get('capability')?.allowed_outgoing_edges).toEqual(['depends_on'])
    expect(registry.get('pear')).toBeUndefined()
    expect(() => registry.register({ kind: 'apple', json_schema: {}, ...bare })).toThrow(
      expect.objectContaining({ code: 'KIND_EXISTS', message: "kind 'apple' already registered" }),
    )
    expect(() => registry.validate('pear', {})).toThrow(
      expect.objectContaining({ code: 'KIND_UNKNOWN', message: "kind 'pear' is not registered" }),
    )
  })

  it.each([
    [{ type: 'object' }, [], "payload top-level type must be 'object'"],
    [{ type: 'array' }, {}, "payload top-level type must be 'array'"],
    [{ type: 'integer' }, 1.5, "payload top-level type must be 'integer'"],
    [{ required: ['a', 'b'] }, { a: null }, "missing required field 'b'"],
    [{ required: ['a'] }, 'text', "missing required field 'a'"],
    [{ properties: { a: { enum: ['x', 1] } } }, { a: 'y' }, `field 'a' = "y" not in enum [x, 1]`],
    [{ properties: { a: { enum: ['x'] } } }, { a: null }, "field 'a' = null not in enum [x]"],
    [{ properties: { a: { type: 'string' } } }, { a: 1 }, "field 'a' must be of type 'string'"],
    [{ properties: { a: { type: 'object' } } }, { a: [] }, "field 'a' must be of type 'object'"],
  ])('by %j refuses %j', (schema, payload, reason) => {
    expect(validateWith(schema, payload)).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_INVALID', message: prefix + reason }),
    )
  })

  it.each([
    [{}, null],
    ['no schema', 5],
    [{ type: 'unheard of' }, 5],
    [{ type: 'object', required: ['a'] }, { a: null }],
    [{ properties: { a: { type: 'string' } } }, { a: null }],
    [{ properties: { a: { type: 'string' } } }, { b: 1 }],
    [{ properties: { a: { enum: [null, 'x'] } } }, { a: null }],
    [{ properties: { a: { type: 'integer', enum: [3] } } }, { a: 3 }],
    [{ properties: { toString: { type: 'string' } } }, {}],
  ])('by %j takes %j', (schema, payload) => {
    expect(validateWith(schema, payload)).not.toThrow()
  })
})
