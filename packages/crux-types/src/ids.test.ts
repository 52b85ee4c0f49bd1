import { describe, expect, it } from 'vitest'
import { uuidHex } from './ids.js'

describe('uuidHex', () => {
  it('makes version 4 UUIDs without hyphens, each once', () => {
    const ids = Array.from({ length: 10_000 }, uuidHex)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
    expect(new Set(ids).size).toBe(ids.length)
    expect(new Set(ids.map((id) => id.slice(0, 8))).size).toBeGreaterThan(9_990)
  })
})
