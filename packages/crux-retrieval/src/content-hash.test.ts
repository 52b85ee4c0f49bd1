import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentHash } from './content-hash.js'

const MASK = (1n << 64n) - 1n

/** The same function in whole 64-bit arithmetic. */
function plainContentHash(value: string): string {
  let h = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(value)) {
    h = ((h ^ BigInt(byte)) * 0x100000001b3n) & MASK
  }
  h = (h + 0x9e3779b97f4a7c15n) & MASK
  h = ((h ^ (h >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK
  h = ((h ^ (h >> 27n)) * 0x94d049bb133111ebn) & MASK
  h ^= h >> 31n
  return h.toString(16).padStart(16, '0')
}

describe('contentHash', () => {
  it('gives vectors computed by another implementation (RET-11.10-content-hash)', () => {
    const vectors = {
      '': 'c3817c016ba4ff30',
      a: '5f29c2aadd9b8527',
      'port 8080': 'f473e38ff1747c05',
      'größe 東京': '39c629314dc07f56',
    }
    for (const [value, hash] of Object.entries(vectors)) expect(contentHash(value)).toBe(hash)
  })

  it('is FNV-1a over UTF-8 with the splitmix64 finaliser (RET-11.10-content-hash)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (value) => {
        expect(contentHash(value)).toBe(plainContentHash(value))
        expect(contentHash(value)).toMatch(/^[0-9a-f]{16}$/)
      }),
    )
  })

  it('is equal for equal values and changes with an edit (RET-11.10-content-hash-use)', () => {
    expect(contentHash('port 8080')).toBe(contentHash(['port', '8080'].join(' ')))
    expect(contentHash('port 8080')).not.toBe(contentHash('port 8081'))
  })
})
