import { describe, expect, it } from 'vitest'
import { INTENTS, intentBias, isIntent } from './intent-table.js'

describe('intentBias', () => {
  it('knows exactly five intents with their biases (MCP-11.10-intent-five)', () => {
    expect(INTENTS).toEqual({
      audit_review: { audit: 30, proof: 20, retrieval: 10 },
      document_ingest: { memory: 30, journal: 20, retrieval: 10 },
      session_review: { session: 30, memory: 20, journal: 10 },
      compliance_export: { audit: 30, proof: 25, economy: 10 },
      knowledge_query: { retrieval: 30, memory: 20, session: 5 },
    })
    for (const [intent, biases] of Object.entries(INTENTS)) {
      expect(isIntent(intent)).toBe(true)
      for (const [affinity, bias] of Object.entries(biases)) {
        expect(intentBias(intent, affinity)).toBe(bias)
      }
    }
  })

  it.each([undefined, '', 'foo', 'Audit_Review', 'audit_review ', 'constructor', '__proto__'])(
    'favours nothing for %j',
    (intent) => {
      for (const affinity of ['audit', 'memory', 'retrieval', '', 'constructor']) {
        expect(intentBias(intent, affinity)).toBe(0)
      }
      expect(isIntent(intent ?? '')).toBe(false)
    },
  )

  it('favours nothing that an intent does not name', () => {
    expect(intentBias('audit_review', 'memory')).toBe(0)
    expect(intentBias('audit_review', '')).toBe(0)
    expect(intentBias('audit_review', 'toString')).toBe(0)
  })
})
