import { blake3 } from '@noble/hashes/blake3.js'
import { openFactStore } from 'crux-memory'
import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, ManualClock, SYSTEM } from 'crux-types'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openMemoryObservations } from '../testing/memory-observations.js'
import { captureFromSession, captureFromText, MAX_CAPTURED } from './capture-statements.js'

const hashes = { blake3: (bytes: Uint8Array) => blake3(bytes) }

async function open() {
  const clock = new ManualClock(Date.UTC(2026, 0, 15))
  const facts = await openFactStore({ journal: createMemoryJournal(), clock })
  const observations = openMemoryObservations({ clock, hashes })
  onTestFinished(async () => {
    await facts.close()
    await observations.close()
  })
  return { facts, observations }
}

const prompt = (text: string) => ({
  kind: 'user_prompt',
  provider: 'claude-code',
  payload: { text },
})

describe('captureFromSession', () => {
  it('goes on where it stopped, until all is read', async () => {
    const stores = await open()
    const told = Array.from({ length: 250 }, (_, n) => prompt(`The port of api${n} is ${n}.`))
    await stores.observations.record(SYSTEM, 'plan', told)
    const seen = new Set<string>()
    let after: string | undefined
    let rounds = 0
    do {
      const from = { sessionId: 'plan', after, limit: 180 }
      const capture = await captureFromSession(stores, SYSTEM, from)
      expect(capture.candidates.length).toBeLessThanOrEqual(MAX_CAPTURED)
      for (const { proposedEntity } of capture.candidates) seen.add(proposedEntity)
      after = capture.next
      rounds++
    } while (after !== undefined && rounds < 10)
    expect(seen.size).toBe(250)
    expect(rounds).toBe(3)
  })

  it('reads the sessions of the caller alone, and proposes for operators alone', async () => {
    const stores = await open()
    const anna = agentCaller('anna')
    await stores.observations.record(anna, 'plan', [prompt('Never push to main.')])
    const from = { sessionId: 'plan', limit: 10 }
    expect((await captureFromSession(stores, ANONYMOUS, from)).scanned).toBe(0)
    const stored = { ...from, sessionId: '__agent_session::anna::plan' }
    expect((await captureFromSession(stores, SYSTEM, stored)).candidates).toHaveLength(1)
    const reader = { ...anna, scopes: ['query:read'] }
    await expect(captureFromSession(stores, reader, from)).rejects.toMatchObject({
      code: 'ADMIN_REQUIRED',
    })
  })
})

describe('captureFromText', () => {
  it('leaves out what a fact says already, and proposes another value', async () => {
    const stores = await open()
    await stores.facts.store(SYSTEM, { entity: 'api', key: 'port', value: '9090' })
    const same = await captureFromText(stores, SYSTEM, 'The port of the api is 9090.')
    expect(same).toMatchObject({ scanned: 1, known: 1, candidates: [] })
    const other = await captureFromText(stores, SYSTEM, 'The port of the api is 9091.')
    expect(other).toMatchObject({ known: 0, candidates: [{ proposedValue: '9091' }] })
  })
})
