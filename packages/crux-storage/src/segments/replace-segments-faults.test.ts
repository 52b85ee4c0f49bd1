import { ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { createFaultyFs, type FaultyFs } from '../testing/faulty-fs.js'
import { mortal, untilGone } from '../testing/mortal-fs.js'
import { framesOf, keptOf, testFrame } from '../testing/segment-store-contract.js'
import { openFileSegmentStore, type SegmentFailpoint } from './file-segment-store.js'
import type { FrameBatch, SegmentStore } from './segment-store.js'

const DIR = '/data'

function open(
  fs: FaultyFs,
  more: { failpoint?: (name: SegmentFailpoint) => Promise<void> } = {},
): Promise<SegmentStore> {
  return openFileSegmentStore({
    dir: DIR,
    fs,
    clock: new ManualClock(Date.UTC(2026, 0, 1)),
    ...more,
  })
}

const batch = (name: string): FrameBatch => ({
  frames: [testFrame('a', `${name}1`), testFrame('b', `${name}2`)],
  companions: async () => [{ kind: 'ccxi', bytes: new TextEncoder().encode(name) }],
})

/** Replaces `x` and `y` by one segment that keeps one frame of each, behind `z`. */
async function replaceTwo(store: SegmentStore): Promise<unknown> {
  const refs = (await store.list()).slice(0, 2)
  return store.replace(refs, {
    frames: [],
    kept: await keptOf(store, refs, (eventId) => eventId.endsWith('1')),
    companions: async () => [{ kind: 'ccxi', bytes: new Uint8Array(9) }],
  })
}

const OLD = ['x1+x2', 'y1+y2', 'z1+z2']
const NEW = ['z1+z2', 'x1+y1']

async function threeSegments(fs: FaultyFs): Promise<SegmentStore> {
  const store = await open(fs)
  for (const name of ['x', 'y', 'z']) await store.seal(batch(name))
  return store
}

/** Names of payloads, segment by segment. */
async function names(store: SegmentStore): Promise<readonly string[]> {
  const all = await Promise.all((await store.list()).map((ref) => framesOf(store, ref)))
  return all.map((frames) => frames.map((frame) => frame.split('=')[1]).join('+'))
}

describe('a replacement', () => {
  it('happens whole or not at all, whichever call fails', async () => {
    for (let n = 1; ; n++) {
      const fs = createFaultyFs()
      const store = await threeSegments(fs)
      fs.failAt(n, n % 2 === 0 ? 'ENOSPC' : 'EIO')
      const outcome = await replaceTwo(store).then(
        () => 'replaced',
        (error: unknown) => error,
      )
      const isPast = fs.clearFailure()
      const after = outcome === 'replaced' ? NEW : OLD
      expect(await names(store), `call ${n}`).toEqual(after)
      await store.seal(batch('w'))
      fs.crash()
      const again = await open(fs)
      expect(await names(again), `call ${n}, after a crash`).toEqual([...after, 'w1+w2'])
      const files = await fs.list(`${DIR}/shards/shard-0000/segments`)
      expect(files.filter((name) => name.endsWith('.ccxseg'))).toHaveLength(after.length + 1)
      if (outcome === 'replaced') {
        const [ref] = (await again.list()).slice(1)
        expect(ref && (await again.readCompanion(ref, 'ccxi'))).toEqual(new Uint8Array(9))
      }
      if (isPast) {
        expect(n).toBeGreaterThan(15)
        break
      }
    }
  })

  it('leaves all old ones or the new one when power goes at any call, with any part of the rest', async () => {
    for (const survive of [0, 0.25, 0.5, 0.75, 1]) {
      const seen = new Set<string>()
      for (let n = 1; ; n++) {
        const fs = createFaultyFs()
        await threeSegments(fs)
        const process = mortal(fs)
        const second = await open(process.fs)
        process.arm(n)
        const replacing = replaceTwo(second).then(() => 'replaced' as const)
        const outcome = await Promise.race([replacing, untilGone(process.isGone)])
        fs.crash((unsynced) => unsynced * survive)
        const found = await names(await open(fs))
        if (outcome === 'replaced') expect(found).toEqual(NEW)
        else expect([OLD, NEW], `call ${n}`).toContainEqual(found)
        seen.add(found.join())
        if (outcome === 'replaced') break
      }
      expect(seen).toEqual(new Set([OLD.join(), NEW.join()]))
    }
  })

  it('holds only with its segment, wherever the MANIFEST is cut between them', async () => {
    const fs = createFaultyFs()
    await threeSegments(fs)
    const path = `${DIR}/shards/shard-0000/MANIFEST`
    const before = fs.peek(path)?.length ?? 0
    const files = async () => {
      const folder = `${DIR}/shards/shard-0000/segments`
      const all = await fs.list(folder)
      return all.map((name) => [`${folder}/${name}`, fs.peek(`${folder}/${name}`)] as const)
    }
    const old = await files()
    await replaceTwo(await open(fs))
    const both = new Map([...old, ...(await files())])
    const manifest = fs.peek(path) ?? new Uint8Array()
    // Every byte at the end, where it counts; some of those before.
    for (let cut = before; cut <= manifest.length; cut += cut < manifest.length - 12 ? 11 : 1) {
      const cutFs = createFaultyFs()
      for (const [name, bytes] of both) cutFs.plant(name, bytes ?? new Uint8Array())
      cutFs.plant(path, manifest.subarray(0, cut))
      const store = await open(cutFs)
      const expected = cut < manifest.length ? OLD : NEW
      expect(await names(store), `cut at ${cut}`).toEqual(expected)
      // A record that was cut off from its segment has spent the number, and means nothing later.
      const ref = await store.seal(batch('w'))
      expect(ref.seq).toBe(5)
      await store.close()
      expect(await names(await open(cutFs))).toEqual([...expected, 'w1+w2'])
    }
  })

  it.each([
    ['after_seq_assignment', OLD],
    ['after_write_tmp', OLD],
    ['after_rename_before_manifest', OLD],
    ['after_manifest_commit', NEW],
  ] as const)('that ends at %s leaves one of both', async (point, expected) => {
    for (const survive of [0, 1]) {
      const fs = createFaultyFs()
      await threeSegments(fs)
      await new Promise<void>((resolve) => {
        const failpoint = (name: SegmentFailpoint): Promise<void> => {
          if (name !== point) return Promise.resolve()
          fs.crash((unsynced) => unsynced * survive)
          resolve()
          return new Promise(() => {})
        }
        open(fs, { failpoint }).then(replaceTwo, () => {})
      })
      const store = await open(fs)
      expect(await names(store)).toEqual(expected)
      const files = await fs.list(`${DIR}/shards/shard-0000/segments`)
      expect(files.filter((name) => name.endsWith('.ccxseg'))).toHaveLength(expected.length)
    }
  })
})
