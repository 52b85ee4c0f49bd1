import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createHttpCaller } from './http.js'
import { createSandbox } from './sandbox.js'

const ON = { CORECRUXD_FEATURE_ACTIVITY_LOG: '1' }
const ROUNDS = 4
const WRITERS = 8

const posted = z.object({ session_id: z.string(), seq: z.int(), text: z.string() })
const listed = z.object({
  next_cursor: z.int().nullable(),
  rows: z.array(z.object({ session_id: z.string(), seq: z.int(), preview: z.string() })),
})
type Http = ReturnType<typeof createHttpCaller>

async function readAll(http: Http): Promise<z.output<typeof listed>['rows']> {
  const rows: z.output<typeof listed>['rows'] = []
  for (let before = ''; ; ) {
    const path = `/v1/activity?tenant_id=default&token_budget=1000000${before}`
    const page = listed.parse(JSON.parse((await http.request('GET', path)).text))
    rows.push(...page.rows)
    if (page.next_cursor === null) return rows
    before = `&before=${page.next_cursor}`
  }
}

describe('the activity log of a daemon that is killed', () => {
  it('has every entry that was acknowledged, once, under its number', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const acknowledged = new Map<string, string>()
    for (let round = 0; round < ROUNDS; round++) {
      const daemon = await box.startDaemon(ON)
      const http = createHttpCaller(daemon.httpUrl)
      const found = await readAll(http)
      const places = found.map(({ session_id, seq }) => `${session_id}/${seq}`)
      expect(new Set(places).size).toBe(places.length)
      for (const [place, text] of acknowledged) {
        expect(found[places.indexOf(place)]?.preview, place).toBe(text)
      }
      let isDead = false
      const before = acknowledged.size
      const write = async (writer: number): Promise<void> => {
        for (let i = 0; !isDead; i++) {
          const text = `${round} ${writer} ${i}`
          const entry = { session_id: `s${writer % 3}`, kind: 'command', text }
          try {
            const { status, text: reply } = await http.request('POST', '/v1/activity', entry)
            expect(status).toBe(201)
            const { session_id, seq } = posted.parse(JSON.parse(reply))
            const place = `${session_id}/${seq}`
            expect(acknowledged.has(place), place).toBe(false)
            acknowledged.set(place, text)
            if (acknowledged.size === before + 200) await daemon.kill('SIGKILL')
          } catch (error) {
            if (error instanceof Error && error.name === 'AssertionError') throw error
            isDead = true
          }
        }
      }
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
      await http.close()
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(ROUNDS * 200)
  })
})
