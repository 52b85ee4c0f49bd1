import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shortFloat32 } from './float32.js'
import { chainKey, decodeFactLine, encodeFactLine } from './journal-line.js'

const minimal = {
  fact_id: 'f_1',
  entity: 'e',
  key: 'k',
  value: 'vé',
  confidence: 0.95,
  stored_at: '2026-01-15T12:00:00.123456789Z',
}
const decode = (value: unknown) => decodeFactLine(Buffer.from(JSON.stringify(value)))

describe('decodeFactLine', () => {
  it('fills in what older lines leave out', () => {
    expect(decode({ op: 'store', fact: { ...minimal, tenant_hash: '  ' } })).toEqual({
      op: 'store',
      fact: {
        ...minimal,
        tenant_hash: 'default',
        source_receipt: null,
        confidence: Math.fround(0.95),
        tokens: 1,
        deleted: false,
        version: 1,
        private: false,
        horizon_class: 'none',
      },
    })
  })

  it('gives back what was encoded', () => {
    const decoded = decode({
      op: 'store',
      fact: {
        ...minimal,
        tenant_hash: 'acme',
        source_receipt: 'r',
        version: 3,
        supersedes: 'f_0',
        superseded_by: 'f_2',
        private: true,
        horizon_class: 'volatile',
        reverified_at: '2026-01-16T00:00:00Z',
        actor: 'anna',
        valid_from: '2026-01-01T00:00:00Z',
        valid_to: '2026-02-01T00:00:00Z',
        access_count: 4,
        last_accessed_at: '2026-01-17T00:00:00Z',
        seeded: true,
        unknown: 'member',
      },
    })
    if (typeof decoded === 'string') throw new Error(decoded)
    expect(decodeFactLine(encodeFactLine(decoded))).toEqual(decoded)
  })

  it('gives the fact that was stored, whatever it holds', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.string({ maxLength: 4000 }),
    )
    const time = fc.constantFrom('2026-01-15T12:00:00.000Z', '2026-01-15T12:00:00.123456789Z')
    const float = fc.float({ min: 0, max: 1, noNaN: true }).map((value) => Math.fround(value) + 0)
    const facts = fc.record(
      {
        fact_id: fc.string({ minLength: 1 }),
        tenant_hash: fc.constantFrom('default', 'acmé'),
        entity: text,
        key: text,
        value: text,
        source_receipt: fc.option(text),
        confidence: float,
        stored_at: time,
        deleted: fc.boolean(),
        version: fc.nat(),
        private: fc.boolean(),
        horizon_class: fc.constantFrom('none' as const, 'volatile' as const),
        supersedes: text,
        superseded_by: text,
        actor: text,
        reverified_at: time,
        valid_from: time,
        valid_to: time,
        seeded: fc.constant(true),
        forgotten: fc.constant(true),
        access_count: fc.nat(),
        last_accessed_at: time,
      },
      {
        requiredKeys: [
          ...(['fact_id', 'tenant_hash', 'entity', 'key', 'value', 'source_receipt'] as const),
          ...(['confidence', 'stored_at', 'deleted', 'version', 'private'] as const),
          'horizon_class',
        ],
      },
    )
    fc.assert(
      fc.property(facts, (drawn) => {
        const fact = { ...drawn, tokens: Math.ceil(Buffer.byteLength(drawn.value) / 4) }
        const bytes = encodeFactLine({ op: 'store', fact })
        expect(decodeFactLine(bytes)).toEqual({ op: 'store', fact })
        const { confidence } = fact
        const stored = { ...fact, confidence: shortFloat32(confidence) }
        expect(JSON.parse(Buffer.from(bytes).toString())).toEqual({ op: 'store', fact: stored })
      }),
    )
  })

  it.each([
    ['not an object', 3],
    ['no op', {}],
    ['unknown op', { op: 'replace_latest', fact: minimal }],
    ['no fact', { op: 'store' }],
    ['fact without id', { op: 'store', fact: { ...minimal, fact_id: '' } }],
    ['fact without entity', { op: 'store', fact: { ...minimal, entity: 1 } }],
    ['value of another type', { op: 'store', fact: { ...minimal, value: {} } }],
    ['confidence as text', { op: 'store', fact: { ...minimal, confidence: '1' } }],
    ['time that is none', { op: 'store', fact: { ...minimal, stored_at: 'yesterday' } }],
    ['bound that is no time', { op: 'store', fact: { ...minimal, valid_to: 'later' } }],
    ['unknown class', { op: 'store', fact: { ...minimal, horizon_class: 'weekly' } }],
    ['negative version', { op: 'store', fact: { ...minimal, version: -1 } }],
    ['batch that is no list', { op: 'store_batch', facts: minimal }],
    ['batch with a bad fact', { op: 'store_batch', facts: [minimal, {}] }],
    ['delete without id', { op: 'delete' }],
    ['supersede without by', { op: 'supersede', fact_id: 'f_1' }],
    ['validity with a bad bound', { op: 'set_validity', fact_id: 'f_1', valid_from: 5 }],
    ['consolidate without sources', { op: 'consolidate', canonical: minimal }],
    [
      'undo with a bad list',
      { op: 'consolidate_undo', canonical_fact_id: 'f', restored_fact_ids: [1] },
    ],
  ])('names the reason for %s, without stored text', (_, value) => {
    const reason = decode(value)
    expect(typeof reason).toBe('string')
    expect(reason).not.toContain('vé')
  })

  it('never throws, whatever the bytes', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void decodeFactLine(bytes)))
    fc.assert(fc.property(fc.jsonValue(), (value) => void decode({ op: 'store', fact: value })))
  })
})

describe('shortFloat32', () => {
  it('gives the short decimal of the same float', () => {
    expect([0.95, 0.1, 1, 0, 0.3, 1 / 3].map(shortFloat32)).toEqual([
      0.95, 0.1, 1, 0, 0.3, 0.33333334,
    ])
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Math.fround(shortFloat32(value)) + 0).toBe(Math.fround(value) + 0)
      }),
    )
    for (let n = 0; n <= 1000; n++) expect(shortFloat32(Math.fround(n / 1000))).toBe(n / 1000)
  })
})

describe('chainKey', () => {
  it('is one plain key per chain, whatever the names hold', () => {
    const keys = [
      chainKey('t', 'ab', 'c'),
      chainKey('t', 'a', 'bc'),
      chainKey('u', 'ab', 'c'),
      chainKey('t', 'a\n/ü', '\u0000'),
    ]
    expect(new Set(keys).size).toBe(4)
    for (const key of keys) expect(key).toMatch(/^[tu]\/facts\/[\w-]{24}$/)
    expect(chainKey('t', 'ab', 'c')).toBe(keys[0])
  })
})
