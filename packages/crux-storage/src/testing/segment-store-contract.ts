import { decodeSegment, type FrameToSeal, loadHashes } from 'crux-segment'
import { ManualClock } from 'crux-types'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  COMPANION_KINDS,
  type CompanionKind,
  type FrameInput,
  type SegmentRef,
  type SegmentStore,
} from '../segments/segment-store.js'

/** A store under test; `reopen` closes it and opens it again where its content lasts, else is absent. */
export interface OpenedSegmentStore {
  readonly store: SegmentStore
  readonly warnings: readonly string[]
  readonly reopen?: () => Promise<SegmentStore>
}

/** A frame for tests; `stream` names the document. */
export function testFrame(stream: string, eventId: string, payload = eventId): FrameInput {
  return {
    tenantId: 'tenant-a',
    streamType: 'notes',
    streamId: stream,
    eventId,
    eventType: 'test.v1',
    contentType: 'text/plain; charset=utf-8',
    occurredAt: '2026-01-01T00:00:00.000Z',
    payload: new TextEncoder().encode(payload),
  }
}

/** Frames of a stored segment as `stream/seq/event=payload`, in record order; everything verified. */
export async function framesOf(store: SegmentStore, ref: SegmentRef): Promise<readonly string[]> {
  const { bytes } = await store.read(ref)
  const segment = await decodeSegment(bytes, await loadHashes(), { verify: 'full' })
  return [...segment.frames()].map(
    ({ header, payload }) =>
      `${header.streamId}/${header.seq}/${header.eventId}=${new TextDecoder().decode(payload)}`,
  )
}

/** Frames of stored segments that pass a test on their event id, as {@link SegmentStore.replace} takes them. */
export async function keptOf(
  store: SegmentStore,
  refs: readonly SegmentRef[],
  isKept: (eventId: string) => boolean = () => true,
): Promise<readonly FrameToSeal[]> {
  const kept: FrameToSeal[] = []
  for (const ref of refs) {
    const { bytes } = await store.read(ref)
    const segment = await decodeSegment(bytes, await loadHashes(), { verify: 'full' })
    for (const { header, payload } of segment.frames()) {
      if (isKept(header.eventId)) kept.push({ fields: header, payload })
    }
  }
  return kept
}

/**
 * Run the contract of {@link SegmentStore} against an implementation.
 *
 * @param open - Gives an empty store that reads this clock.
 */
export function describeSegmentStore(
  name: string,
  open: (clock: ManualClock) => Promise<OpenedSegmentStore>,
): void {
  const START = Date.UTC(2026, 0, 1)
  const start = async () => {
    const clock = new ManualClock(START)
    const opened = await open(clock)
    const state = { store: opened.store }
    onTestFinished(() => state.store.close())
    const reopen = async () => {
      if (opened.reopen !== undefined) state.store = await opened.reopen()
      return state.store
    }
    return { ...opened, clock, reopen }
  }

  describe(`${name} as a SegmentStore`, () => {
    it('starts empty', async () => {
      const { store } = await start()
      expect(await store.list()).toEqual([])
    })

    it('gives back what was sealed, byte for byte, in commit order', async () => {
      const { store, clock, reopen } = await start()
      const one = await store.seal({ frames: [testFrame('a', 'a1'), testFrame('b', 'b1')] })
      clock.advance(5)
      const two = await store.seal({ frames: [testFrame('a', 'a2')] })
      expect(one).toMatchObject({ shard: 0, epoch: 1, seq: 1, frameCount: 2, sealedAt: START })
      expect(two).toMatchObject({ seq: 2, frameCount: 1, sealedAt: START + 5 })
      expect(one.id).toBe('01000000000000000100000000000000')
      expect(one.receiptId).toMatch(/^[0-9a-f]{64}$/)
      const before = await store.read(one)
      expect(before.bytes.length).toBe(one.sizeBytes)

      const again = await reopen()
      expect(await again.list()).toEqual([one, two])
      expect((await again.read(one)).bytes).toEqual(before.bytes)
      expect(await framesOf(again, one)).toEqual(['a/1/a1=a1', 'b/1/b1=b1'])
      expect(await framesOf(again, two)).toEqual(['a/2/a2=a2'])
    })

    it('counts each stream of each tenant and corpus on its own', async () => {
      const { store, reopen } = await start()
      const foreign = { ...testFrame('a', 'x'), tenantId: 'tenant-b' }
      const other = { ...testFrame('a', 'y'), streamType: 'mail' }
      await store.seal({ frames: [testFrame('a', '1'), foreign, testFrame('a', '2'), other] })
      const again = await reopen()
      const ref = await again.seal({ frames: [other, testFrame('a', '3'), foreign] })
      expect(await framesOf(again, ref)).toEqual(['a/2/y=y', 'a/3/3=3', 'a/2/x=x'])
    })

    it('keeps the receipt of a seal, and lets the next depend on it', async () => {
      const { store, reopen } = await start()
      const refs = [
        await store.seal({ frames: [testFrame('a', '1')] }),
        await store.seal({ frames: [testFrame('a', '2')] }),
      ]
      const again = await reopen()
      const [first] = refs
      if (first !== undefined) await again.remove(first)
      const last = await again.seal({ frames: [testFrame('a', '3')] })
      const final = await reopen()
      const receipts = (await final.list()).map(({ receiptId }) => receiptId)
      expect(receipts).toEqual([refs[1]?.receiptId, last.receiptId])
    })

    it('reads ranges', async () => {
      const { store } = await start()
      const ref = await store.seal({ frames: [testFrame('a', '1', 'payload')] })
      const { bytes } = await store.read(ref)
      expect(await store.readRange(ref, 4096, 50)).toEqual(bytes.slice(4096, 4146))
      expect(await store.readRange(ref, 0, ref.sizeBytes)).toEqual(bytes)
      expect(await store.readRange(ref, ref.sizeBytes, 0)).toEqual(new Uint8Array(0))
      await expect(store.readRange(ref, ref.sizeBytes, 1)).rejects.toThrow(RangeError)
      await expect(store.readRange(ref, -1, 1)).rejects.toThrow(RangeError)
      await expect(store.readRange(ref, 0.5, 1)).rejects.toThrow(RangeError)
    })

    it('hands buffers over: what a caller does with them stays with the caller', async () => {
      const { store } = await start()
      const frame = testFrame('a', '1')
      const ref = await store.seal({ frames: [frame] })
      frame.payload.fill(0)
      const { bytes } = await store.read(ref)
      const kept = bytes.slice()
      bytes.fill(0)
      expect((await store.read(ref)).bytes).toEqual(kept)
    })

    it('puts companions beside a segment, shows them the sealed bytes, and replaces them', async () => {
      const { store, reopen } = await start()
      let seen: Uint8Array | undefined
      const ref = await store.seal({
        frames: [testFrame('a', '1')],
        companions: async ({ ref, bytes }) => {
          seen = bytes.slice()
          return [{ kind: 'ccxi', bytes: new TextEncoder().encode(`index of ${ref.seq}`) }]
        },
      })
      const text = async (from: SegmentStore, kind: 'ccxi' | 'ccxm') => {
        const bytes = await from.readCompanion(ref, kind)
        return bytes && new TextDecoder().decode(bytes)
      }
      const again = await reopen()
      expect(seen).toEqual((await again.read(ref)).bytes)
      expect(await text(again, 'ccxi')).toBe('index of 1')
      expect(await text(again, 'ccxm')).toBeUndefined()
      await again.writeCompanion(ref, { kind: 'ccxi', bytes: new TextEncoder().encode('new') })
      await again.writeCompanion(ref, { kind: 'ccxm', bytes: new TextEncoder().encode('meta') })
      const final = await reopen()
      expect([await text(final, 'ccxi'), await text(final, 'ccxm')]).toEqual(['new', 'meta'])
    })

    it('keeps companions of every kind, each on its own, until the segment goes', async () => {
      const { store, reopen } = await start()
      const bytesOf = (kind: CompanionKind) => new TextEncoder().encode(`bytes of ${kind}`)
      const read = (from: SegmentStore, ref: SegmentRef) =>
        Promise.all(COMPANION_KINDS.map((kind) => from.readCompanion(ref, kind)))
      const sealed = await store.seal({
        frames: [testFrame('a', '1')],
        companions: async () => COMPANION_KINDS.map((kind) => ({ kind, bytes: bytesOf(kind) })),
      })
      const later = await store.seal({ frames: [testFrame('a', '2')] })
      expect(await read(store, later)).toEqual(COMPANION_KINDS.map(() => undefined))
      for (const kind of COMPANION_KINDS) {
        await store.writeCompanion(later, { kind, bytes: bytesOf(kind) })
      }
      const again = await reopen()
      for (const ref of [sealed, later]) {
        expect(await read(again, ref)).toEqual(COMPANION_KINDS.map(bytesOf))
        await again.remove(ref)
        await expect(read(again, ref)).rejects.toMatchObject({ code: 'SEGMENT_NOT_FOUND' })
      }
    })

    it('commits without companions when they cannot be built, and says so', async () => {
      const { store, warnings } = await start()
      const ref = await store.seal({
        frames: [testFrame('a', '1')],
        companions: async () => {
          throw new Error('no room for the index')
        },
      })
      expect(await framesOf(store, ref)).toEqual(['a/1/1=1'])
      expect(await store.readCompanion(ref, 'ccxi')).toBeUndefined()
      expect(warnings.join()).toContain('no room for the index')
    })

    it('takes a segment out, with its companions, and uses no number twice', async () => {
      const { store, reopen } = await start()
      const companions = async () => [{ kind: 'ccxi' as const, bytes: Uint8Array.of(1) }]
      const one = await store.seal({ frames: [testFrame('a', '1')], companions })
      const two = await store.seal({ frames: [testFrame('a', '2')] })
      await store.remove(two)
      await store.remove(one)
      const again = await reopen()
      expect(await again.list()).toEqual([])
      for (const failing of [
        again.read(one),
        again.readRange(one, 0, 1),
        again.readCompanion(one, 'ccxi'),
        again.writeCompanion(one, { kind: 'ccxi', bytes: Uint8Array.of(1) }),
        again.remove(one),
      ]) {
        await expect(failing).rejects.toMatchObject({
          code: 'SEGMENT_NOT_FOUND',
          data: { id: one.id },
        })
      }
      expect(await again.seal({ frames: [testFrame('a', '3')] })).toMatchObject({ seq: 3 })
    })

    it('puts one segment in the place of several, with their frames as they were', async () => {
      const { store, clock, reopen } = await start()
      const one = await store.seal({ frames: [testFrame('a', 'a1'), testFrame('b', 'b1')] })
      const two = await store.seal({ frames: [testFrame('a', 'a2')] })
      const kept = await keptOf(store, [one, two], (eventId) => eventId !== 'b1')
      const later = await store.seal({ frames: [testFrame('a', 'a3')] })
      clock.advance(1000)
      let seen: readonly SegmentRef[] = []
      const merged = await store.replace([one, two], {
        frames: [testFrame('own', 'o1')],
        kept,
        companions: async ({ ref }) => [{ kind: 'ccxi', bytes: Uint8Array.of(ref.seq) }],
        committed: async () => {
          seen = await store.list()
          // What is leaving can be read until this has ended.
          expect((await store.readRange(one, 0, 4)).length).toBe(4)
        },
      })
      if (merged === undefined) throw new Error('one segment was asked for')
      expect(merged).toMatchObject({ seq: 4, frameCount: 3 })
      const again = await reopen()
      expect(await again.list()).toEqual([later, merged])
      expect(seen).toEqual([later, merged])
      expect(await framesOf(again, merged)).toEqual(['own/1/o1=o1', 'a/1/a1=a1', 'a/2/a2=a2'])
      const copies = await keptOf(again, [merged], (eventId) => eventId !== 'o1')
      expect(copies).toEqual(kept)
      expect(await again.readCompanion(merged, 'ccxi')).toEqual(Uint8Array.of(4))
      for (const gone of [again.read(one), again.readRange(two, 0, 1)]) {
        await expect(gone).rejects.toMatchObject({ code: 'SEGMENT_NOT_FOUND' })
      }
      const next = await again.seal({ frames: [testFrame('a', 'a4'), testFrame('own', 'o2')] })
      expect(next.seq).toBe(5)
      expect(await framesOf(again, next)).toEqual(['a/4/a4=a4', 'own/2/o2=o2'])
      const final = await reopen()
      expect(await final.list()).toEqual([later, merged, next])
    })

    it('takes several segments out at once', async () => {
      const { store, reopen } = await start()
      const refs = [
        await store.seal({ frames: [testFrame('a', '1')] }),
        await store.seal({ frames: [testFrame('a', '2')] }),
      ]
      const last = await store.seal({ frames: [testFrame('a', '3')] })
      expect(await store.replace(refs)).toBeUndefined()
      expect(await (await reopen()).list()).toEqual([last])
    })

    it('replaces nothing when a replacement breaks a rule, fails, or is aborted', async () => {
      const { store, reopen } = await start()
      const refs = [
        await store.seal({ frames: [testFrame('a', '1')] }),
        await store.seal({ frames: [testFrame('a', '2')] }),
      ]
      const kept = await keptOf(store, refs)
      const companions = async () => []
      const invalid = { code: 'SEGMENT_BATCH_INVALID' }
      await expect(
        store.replace(refs, { frames: [testFrame('a', '3')], kept: [], companions }),
      ).rejects.toMatchObject(invalid)
      const future = kept.map(({ fields, payload }) => ({ fields: { ...fields, seq: 3 }, payload }))
      await expect(
        store.replace(refs, { frames: [], kept: future, companions }),
      ).rejects.toMatchObject(invalid)
      const failing = async () => {
        throw new Error('no index')
      }
      await expect(store.replace(refs, { frames: [], kept, companions: failing })).rejects.toThrow(
        'no index',
      )
      const late = new AbortController()
      const aborting = async () => {
        late.abort(new Error('late'))
        return []
      }
      await expect(
        store.replace(refs, { frames: [], kept, companions: aborting, signal: late.signal }),
      ).rejects.toThrow('late')
      const unknown = { ...refs[0], id: 'f'.repeat(32) } as SegmentRef // every member but the id is one's
      await expect(
        store.replace([unknown], { frames: [], kept, companions }),
      ).rejects.toMatchObject({ code: 'SEGMENT_NOT_FOUND' })
      expect(await (await reopen()).list()).toEqual(refs)
    })

    it('keeps a replacement whose taking over failed, and says so', async () => {
      const { store, warnings, reopen } = await start()
      const ref = await store.seal({ frames: [testFrame('a', '1')] })
      const committed = async () => {
        throw new Error('nobody moved')
      }
      const kept = await keptOf(store, [ref])
      const merged = await store.replace([ref], {
        frames: [],
        kept,
        companions: async () => [],
        committed,
      })
      expect(warnings.join()).toContain('nobody moved')
      expect(await (await reopen()).list()).toEqual([merged])
    })

    it('refuses batches that break a rule, and stays usable', async () => {
      const { store } = await start()
      const good = testFrame('a', '1')
      for (const frames of [
        [],
        [{ ...good, eventId: '' }],
        [good, { ...good, eventId: 'x'.repeat(129) }],
        [{ ...good, eventId: 'ä'.repeat(65) }],
        [{ ...good, tenantId: '' }],
        [{ ...good, streamType: ' notes' }],
        [{ ...good, streamId: 'a\0b' }],
        [{ ...good, contentType: '\ud800' }],
        [{ ...good, streamId: 'x'.repeat(70_000) }],
      ]) {
        await expect(store.seal({ frames })).rejects.toMatchObject({
          code: 'SEGMENT_BATCH_INVALID',
        })
      }
      const ref = await store.seal({ frames: [{ ...good, eventId: 'ä'.repeat(64) }] })
      expect(ref).toMatchObject({ seq: 1, frameCount: 1 })
    })

    it('commits nothing of a batch that is aborted before the commit', async () => {
      const { store } = await start()
      const early = AbortSignal.abort(new Error('early'))
      await expect(store.seal({ frames: [testFrame('a', '1')], signal: early })).rejects.toThrow(
        'early',
      )
      const late = new AbortController()
      const companions = async () => {
        late.abort(new Error('late'))
        return []
      }
      await expect(
        store.seal({ frames: [testFrame('a', '1')], companions, signal: late.signal }),
      ).rejects.toThrow('late')
      expect(await store.list()).toEqual([])
      const ref = await store.seal({ frames: [testFrame('a', '1')] })
      expect(await framesOf(store, ref)).toEqual(['a/1/1=1'])
    })

    it('seals one batch at a time, in the order of the calls', async () => {
      const { store } = await start()
      const refs = await Promise.all(
        Array.from({ length: 8 }, (_, i) => store.seal({ frames: [testFrame('a', `e${i}`)] })),
      )
      expect(refs.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
      const frames = await Promise.all(refs.map((ref) => framesOf(store, ref)))
      expect(frames.flat()).toEqual(refs.map((_, i) => `a/${i + 1}/e${i}=e${i}`))
    })

    it('holds more frames in one segment than fit one block', async () => {
      const { store, reopen } = await start()
      const payload = 'x'.repeat(50_000)
      const frames = Array.from({ length: 100 }, (_, i) => testFrame(`d${i % 7}`, `${i}`, payload))
      const ref = await store.seal({ frames })
      const again = await reopen()
      const stored = await framesOf(again, ref)
      expect(stored).toHaveLength(100)
      expect(stored[99]).toBe(`d1/15/99=${payload}`)
    })

    it('is closed once and for all', async () => {
      const { store } = await start()
      const ref = await store.seal({ frames: [testFrame('a', '1')] })
      await store.close()
      await store.close()
      for (const failing of [
        store.list(),
        store.read(ref),
        store.seal({ frames: [testFrame('a', '2')] }),
        store.remove(ref),
        store.replace([ref]),
      ]) {
        await expect(failing).rejects.toMatchObject({ code: 'SEGMENT_STORE_CLOSED' })
      }
    })
  })
}
