import { ManualClock } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createIntentStore,
  INTENT_TTL_SECONDS,
  MAX_INTENT_BYTES,
  MAX_INTENTS,
} from './intent-store.js'

function create() {
  const clock = new ManualClock(Date.UTC(2026, 0, 15))
  return { clock, intents: createIntentStore({ clock }) }
}

describe('createIntentStore', () => {
  it('holds one intent per passport (MCP-11.10-intent-capture)', () => {
    const { intents } = create()
    intents.set('anna', 'audit_review')
    intents.set('bert', ' knowledge_query\n')
    intents.set('bert', 'document_ingest')
    expect(intents.intentOf('anna')).toBe('audit_review')
    expect(intents.intentOf('bert')).toBe('document_ingest')
    expect(intents.intentOf('carl')).toBeUndefined()
    expect(intents.size).toBe(2)
  })

  it.each(['', '  ', '\t\n'])(
    'forgets the intent when %j is declared (MCP-11.10-intent-blank)',
    (blank) => {
      const { intents } = create()
      intents.set('anna', 'knowledge_query')
      intents.set('anna', blank)
      expect(intents.intentOf('anna')).toBeUndefined()
      expect(intents.size).toBe(0)
    },
  )

  it('drops an intent on reading once it is older than an hour (MCP-11.10-intent-expiry)', () => {
    const { intents, clock } = create()
    expect(INTENT_TTL_SECONDS).toBe(3600)
    intents.set('anna', 'audit_review')
    clock.advance(3_600_000)
    expect(intents.intentOf('anna')).toBe('audit_review')
    clock.advance(1)
    expect(intents.size).toBe(1)
    expect(intents.intentOf('anna')).toBeUndefined()
    expect(intents.size).toBe(0)
  })

  it('starts the hour anew when the same intent is declared again', () => {
    const { intents, clock } = create()
    intents.set('anna', 'audit_review')
    clock.advance(3_000_000)
    intents.set('anna', 'audit_review')
    clock.advance(3_000_000)
    expect(intents.intentOf('anna')).toBe('audit_review')
  })

  it('keeps the start of an intent that is long, without splitting a character', () => {
    const { intents } = create()
    intents.set('anna', 'ü'.repeat(200))
    expect(intents.intentOf('anna')).toBe('ü'.repeat(MAX_INTENT_BYTES / 2))
  })

  it('drops what was declared first when it is full', () => {
    const { intents } = create()
    for (let i = 0; i < MAX_INTENTS; i++) intents.set(`agent-${i}`, 'audit_review')
    intents.set('agent-0', 'session_review')
    intents.set('one more', 'knowledge_query')
    expect(intents.size).toBe(MAX_INTENTS)
    expect(intents.intentOf('agent-1')).toBeUndefined()
    expect(intents.intentOf('agent-0')).toBe('session_review')
    expect(intents.intentOf('one more')).toBe('knowledge_query')
  })

  it('behaves like a list of declarations with their times', () => {
    const step = fc.oneof(
      fc.record({
        passport: fc.constantFrom('anna', 'bert', '__anon__', '__proto__'),
        intent: fc.constantFrom('', ' ', 'audit_review', 'other'),
      }),
      fc.record({ ms: fc.nat(2_500_000) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { intents, clock } = create()
        const declared = new Map<string, { intent: string; at: number }>()
        for (const done of steps) {
          if ('ms' in done) clock.advance(done.ms)
          else {
            intents.set(done.passport, done.intent)
            declared.set(done.passport, { intent: done.intent.trim(), at: clock.now() })
          }
          for (const [passport, { intent, at }] of declared) {
            const holds = intent !== '' && clock.now() - at <= 3_600_000
            expect(intents.intentOf(passport)).toBe(holds ? intent : undefined)
          }
        }
      }),
    )
  })
})
