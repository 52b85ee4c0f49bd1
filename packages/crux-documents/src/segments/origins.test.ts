import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeOrigins,
  encodeOrigins,
  ORIGINS_EVENT_TYPE,
  type OriginRange,
  OWN_FRAMES,
  originsFrame,
  parseOriginsFrame,
  SegmentOrigins,
} from './origins.js'

const noPause = () => undefined
const id = (n: number) => n.toString(16).padStart(32, '0')

/** Ranges of some origins, each with gaps. */
const ranges = fc
  .array(
    fc.array(fc.record({ gap: fc.nat(3), frames: fc.integer({ min: 1, max: 5 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
    { maxLength: 6 },
  )
  .map((origins) =>
    origins.flatMap((parts, n): OriginRange[] => {
      let at = 0
      return parts.map(({ gap, frames }) => {
        const first = at + gap
        at = first + frames
        return { segmentId: id(n), first, frames }
      })
    }),
  )

const built = (all: readonly OriginRange[]) => {
  const origins = new SegmentOrigins()
  for (const range of all) origins.add(range)
  return origins
}

describe('SegmentOrigins', () => {
  it('finds each frame from both sides, and none that was not kept', () => {
    fc.assert(
      fc.property(ranges, (all) => {
        const origins = built(all)
        const places = all.flatMap(({ segmentId, first, frames }) =>
          Array.from({ length: frames }, (_, i) => ({ segmentId, frame: first + i })),
        )
        expect(origins.frames).toBe(OWN_FRAMES + places.length)
        for (const [i, place] of places.entries()) {
          expect(origins.originOf(OWN_FRAMES + i)).toEqual(place)
          expect(origins.frameOf(place)).toBe(OWN_FRAMES + i)
        }
        const kept = new Set(places.map(({ segmentId, frame }) => `${segmentId}:${frame}`))
        for (let n = 0; n < 7; n++) {
          for (let frame = 0; frame < 40; frame++) {
            if (kept.has(`${id(n)}:${frame}`)) continue
            expect(origins.frameOf({ segmentId: id(n), frame })).toBeUndefined()
          }
        }
        for (const frame of [0, origins.frames, origins.frames + 9]) {
          expect(origins.originOf(frame)).toBeUndefined()
        }
        expect([...origins.segmentIds]).toEqual([...new Set(all.map((one) => one.segmentId))])
      }),
    )
  })

  it('takes no ranges out of order', () => {
    const one = { segmentId: id(1), first: 5, frames: 5 }
    const other = { segmentId: id(2), first: 0, frames: 1 }
    expect(() => built([one, { ...one, first: 9 }])).toThrow(RangeError)
    expect(() => built([one, other, { ...one, first: 20 }])).toThrow(RangeError)
    expect(() => built([{ ...one, frames: 0 }])).toThrow(RangeError)
  })
})

describe('decodeOrigins', () => {
  it('gives back what was encoded, and nothing for bytes that are something else', async () => {
    await fc.assert(
      fc.asyncProperty(ranges, async (all) => {
        const { frames } = built(all)
        const bytes = await encodeOrigins(all, noPause)
        const decoded = await decodeOrigins(bytes, frames, noPause)
        expect(decoded?.ranges).toEqual(all)
        expect(await decodeOrigins(bytes, frames + 1, noPause)).toBeUndefined()
        const twice = Buffer.concat([bytes, bytes])
        if (all.length > 0) {
          expect(await decodeOrigins(bytes.subarray(1), frames, noPause)).toBeUndefined()
          expect(await decodeOrigins(twice, 2 * frames - 1, noPause)).toBeUndefined()
        }
      }),
    )
  })

  it('reads the frame that holds them, and no other', async () => {
    const all = [{ segmentId: id(7), first: 3, frames: 2 }]
    const { eventType, payload } = await originsFrame(all, '2026-01-31T12:00:00Z', noPause)
    expect((await parseOriginsFrame(eventType, payload, 3, noPause))?.ranges).toEqual(all)
    expect(await parseOriginsFrame('other.v1', payload, 3, noPause)).toBeUndefined()
    const newer = payload.slice()
    newer[1] = 2
    expect(await parseOriginsFrame(ORIGINS_EVENT_TYPE, newer, 3, noPause)).toBeUndefined()
    expect(
      await parseOriginsFrame(ORIGINS_EVENT_TYPE, Buffer.from('x'), 3, noPause),
    ).toBeUndefined()
  })
})
