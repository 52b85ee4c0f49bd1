import { Buffer } from 'node:buffer'
import { describe, expect, it } from 'vitest'
import { crc32, crc32c } from './checksum.js'
import { loadHashes } from './hashes.js'

const digits = Buffer.from('123456789')

describe('crc32c', () => {
  it('gives the check value of the Castagnoli polynomial', () => {
    expect(crc32c(digits)).toBe(0xe3069283)
  })

  it('goes on from an earlier checksum', () => {
    const bytes = Buffer.from('a longer text that is cut at every byte')
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(crc32c(bytes.subarray(cut), crc32c(bytes.subarray(0, cut)))).toBe(crc32c(bytes))
      expect(crc32c(bytes, 0, cut)).toBe(crc32c(bytes.subarray(0, cut)))
    }
  })
})

describe('crc32', () => {
  it('gives the check value of the IEEE polynomial', () => {
    expect(crc32(digits)).toBe(0xcbf43926)
  })
})

describe('loadHashes', () => {
  it('gives published vectors', async () => {
    const hashes = await loadHashes()
    expect(Buffer.from(hashes.blake3(new Uint8Array())).toString('hex')).toBe(
      'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262',
    )
    expect(hashes.xxh64(new Uint8Array())).toBe(0xef46db3751d8e999n)
    const stream = hashes.blake3Stream()
    stream.update(digits.subarray(0, 4))
    expect(Buffer.from(hashes.blake3(digits.subarray(4)))).not.toEqual(Buffer.alloc(32))
    stream.update(digits.subarray(4))
    expect(stream.digest()).toEqual(hashes.blake3(digits))
  })
})
