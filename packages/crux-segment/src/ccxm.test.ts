import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeCcxm, encodeCcxm, encodeCcxmInSlices } from './ccxm.js'

describe('encodeCcxm and decodeCcxm', () => {
  it('round trip any payload', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (payload) => {
        expect(decodeCcxm(encodeCcxm(payload))).toEqual(payload)
      }),
    )
  })

  it('give the same bytes for a payload in pieces', async () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(pieces, async (given) => {
        const whole = encodeCcxm(Buffer.concat(given))
        expect(await encodeCcxmInSlices(given, () => undefined)).toEqual(whole)
      }),
    )
  })

  it('notice every changed byte and every cut', () => {
    const bytes = encodeCcxm(new TextEncoder().encode('{"documents":[]}'))
    for (let at = 0; at < bytes.length; at++) {
      const changed = Uint8Array.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 4
      const cruxError = expect.objectContaining({ name: 'CruxError' })
      expect(() => decodeCcxm(changed), `byte ${at}`).toThrow(cruxError)
      expect(() => decodeCcxm(bytes.subarray(0, at)), `cut at ${at}`).toThrow(cruxError)
    }
    expect(() => decodeCcxm(Buffer.concat([bytes, Buffer.alloc(1)]))).toThrow(
      expect.objectContaining({ code: 'LENGTH_OUT_OF_RANGE' }),
    )
  })
})
