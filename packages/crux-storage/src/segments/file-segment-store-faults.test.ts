import { ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { createFaultyFs, type FaultyFs } from '../testing/faulty-fs.js'
import { intercept, mortal, untilGone } from '../testing/mortal-fs.js'
import { framesOf, testFrame } from '../testing/segment-store-contract.js'
import { openFileSegmentStore, type SegmentFailpoint } from './file-segment-store.js'
import type { FrameBatch, SegmentStore } from './segment-store.js'

const DIR = '/data'

function open(
  fs: FaultyFs,
  more: { failpoint?: (name: SegmentFailpoint) => Promise<void>; warnings?: string[] } = {},
): Promise<SegmentStore> {
  return openFileSegmentStore({
    dir: DIR,
    fs,
    clock: new ManualClock(Date.UTC(2026, 0, 1)),
    onWarning: (message) => void more.warnings?.push(message),
    ...(more.failpoint && { failpoint: more.failpoint }),
  })
}

const batch = (name: string): FrameBatch => ({
  frames: [testFrame('a', `${name}1`), testFrame('b', `${name}2`)],
  companions: async () => [{ kind: 'ccxi', bytes: new TextEncoder().encode(name) }],
})

/** Payload names of every committed frame, segment by segment; each segment is verified. */
async function content(store: SegmentStore): Promise<readonly string[]> {
  const all: string[] = []
  for (const ref of await store.list()) {
    const frames = await framesOf(store, ref)
    expect(frames).toHaveLength(ref.frameCount)
    all.push(frames.map((frame) => frame.split('=')[1]).join('+'))
    const companion = await store.readCompanion(ref, 'ccxi')
    // Absent, or this segment's own: never half, never another's.
    if (companion !== undefined) {
      const name = new TextDecoder().decode(companion)
      expect(all.at(-1)).toBe(`${name}1+${name}2`)
    }
  }
  return all
}

describe('openFileSegmentStore when the file system fails', () => {
  it('commits a segment whole or not at all, whichever call of a seal fails', async () => {
    for (let n = 1; ; n++) {
      const fs = createFaultyFs()
      const store = await open(fs)
      await store.seal(batch('x'))
      fs.failAt(n, n % 2 === 0 ? 'ENOSPC' : 'EIO')
      const outcome = await store.seal(batch('y')).then(
        () => 'sealed',
        (error: unknown) => error,
      )
      if (fs.clearFailure()) {
        expect(n).toBeGreaterThan(12)
        expect(outcome).toBe('sealed')
        break
      }
      if (outcome !== 'sealed') {
        expect(outcome, `call ${n}`).toMatchObject({ code: 'STORAGE_WRITE_FAILED' })
      }
      const before = outcome === 'sealed' ? ['x1+x2', 'y1+y2'] : ['x1+x2']
      expect(await content(store), `call ${n}`).toEqual(before)

      // The store goes on: the failure was undone.
      await store.seal(batch('z'))
      expect(await content(store)).toEqual([...before, 'z1+z2'])
      fs.crash()
      expect(await content(await open(fs)), `call ${n}, after a crash`).toEqual([
        ...before,
        'z1+z2',
      ])
    }
  })

  it('keeps what was acknowledged when power goes at any call, with any part of the rest', async () => {
    for (const survive of [0, 0.5, 1]) {
      for (let n = 1; ; n++) {
        const fs = createFaultyFs()
        const store = await open(fs)
        await store.seal(batch('x'))
        const process = mortal(fs)
        const second = await open(process.fs)
        process.arm(n)
        const sealing = second.seal(batch('y')).then(() => 'sealed' as const)
        const outcome = await Promise.race([sealing, untilGone(process.isGone)])
        fs.crash((unsynced) => unsynced * survive)
        const again = await open(fs)
        const found = await content(again)
        if (outcome === 'sealed') expect(found).toEqual(['x1+x2', 'y1+y2'])
        else expect([['x1+x2'], ['x1+x2', 'y1+y2']], `call ${n}`).toContainEqual(found)
        await again.seal(batch('z'))
        expect((await content(again)).at(-1)).toBe('z1+z2')
        if (outcome === 'sealed') break
      }
    }
  })

  it('opens after power went at any call of opening', async () => {
    for (let n = 1; ; n++) {
      const fs = createFaultyFs()
      const process = mortal(fs)
      process.arm(n)
      const outcome = await Promise.race([open(process.fs), untilGone(process.isGone)])
      fs.crash((unsynced) => unsynced / 2)
      const store = await open(fs)
      await store.seal(batch('x'))
      expect(await content(store), `call ${n}`).toEqual(['x1+x2'])
      if (outcome !== 'gone') break
    }
  })

  it('refuses to open with a clear error, whichever call fails, and opens the next time', async () => {
    for (let n = 1; ; n++) {
      const fs = createFaultyFs()
      const first = await open(fs)
      await first.seal(batch('x'))
      await first.close()
      fs.failAt(n)
      const outcome = await open(fs).catch((error: unknown) => error)
      if (fs.clearFailure()) break
      expect(outcome, `call ${n}`).toMatchObject({ code: 'DATA_DIR_UNUSABLE' })
      expect(await content(await open(fs))).toEqual(['x1+x2'])
    }
  })

  it('refuses writes on a full disk, serves reads, and takes writes again when there is room', async () => {
    const fs = createFaultyFs()
    const store = await open(fs)
    const ref = await store.seal(batch('x'))
    fs.setCapacity(0)
    await expect(store.seal(batch('y'))).rejects.toMatchObject({ code: 'STORAGE_WRITE_FAILED' })
    await expect(
      store.writeCompanion(ref, { kind: 'ccxm', bytes: new Uint8Array(9) }),
    ).rejects.toMatchObject({ code: 'STORAGE_WRITE_FAILED' })
    expect(await content(store)).toEqual(['x1+x2'])
    fs.setCapacity(1_000_000)
    await store.seal(batch('y'))
    expect(await content(store)).toEqual(['x1+x2', 'y1+y2'])
    expect(fs.peek(`${DIR}/shards/shard-0000/tmp`)).toBeUndefined()
    expect(await fs.list(`${DIR}/shards/shard-0000/tmp`)).toEqual([])
  })

  it('takes no further seal when a failed record cannot be cut off, and reads on', async () => {
    const fs = createFaultyFs()
    let isBroken = false
    const broken = intercept(fs, (call, path) => {
      if (!isBroken || !path.endsWith('MANIFEST')) return undefined
      if (call !== 'datasync' && call !== 'truncate') return undefined
      return Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' }))
    })
    const store = await open(broken)
    await store.seal(batch('x'))
    isBroken = true
    await expect(store.seal(batch('y'))).rejects.toThrow(/neither written nor cut back/)
    isBroken = false
    await expect(store.seal(batch('z'))).rejects.toThrow(/restart/)
    await expect(store.seal(batch('z'))).rejects.toMatchObject({ code: 'STORAGE_WRITE_FAILED' })
    expect(await content(store)).toEqual(['x1+x2'])
    fs.crash()
    expect(await content(await open(fs))).toEqual(['x1+x2'])
  })

  it('removes whole segments, whichever call fails and whenever power goes', async () => {
    for (let n = 1; ; n++) {
      const fs = createFaultyFs()
      const store = await open(fs)
      const ref = await store.seal(batch('x'))
      await store.seal(batch('y'))
      fs.failAt(n)
      const outcome = await store.remove(ref).then(
        () => 'removed',
        (error: unknown) => error,
      )
      const isPast = fs.clearFailure()
      const after = outcome === 'removed' ? ['y1+y2'] : ['x1+x2', 'y1+y2']
      expect(await content(store), `call ${n}`).toEqual(after)
      fs.crash()
      const again = await open(fs)
      expect(await content(again), `call ${n}, after a crash`).toEqual(after)
      if (outcome === 'removed') {
        const left = await fs.list(`${DIR}/shards/shard-0000/segments`)
        expect(left.filter((name) => name.includes(ref.id))).toEqual([])
      }
      if (isPast) break
    }
  })
})

describe('a process that ends at a failpoint', () => {
  const points: readonly (readonly [SegmentFailpoint, boolean])[] = [
    ['after_seq_assignment', false],
    ['after_write_tmp', false],
    ['after_rename_before_manifest', false],
    ['after_manifest_commit', true],
  ]
  for (const [point, isCommitted] of points) {
    for (const survive of [0, 1]) {
      it(`${point} ${isCommitted ? 'keeps' : 'loses'} the segment, unsynced changes ${survive ? 'kept' : 'lost'}`, async () => {
        const fs = createFaultyFs()
        const first = await open(fs)
        await first.seal(batch('x'))
        const reached = await new Promise<SegmentFailpoint>((resolve) => {
          const failpoint = (name: SegmentFailpoint): Promise<void> => {
            if (name !== point) return Promise.resolve()
            fs.crash((unsynced) => unsynced * survive)
            resolve(name)
            return new Promise(() => {})
          }
          open(fs, { failpoint }).then(
            (store) => store.seal(batch('y')),
            () => {},
          )
        })
        expect(reached).toBe(point)
        const warnings: string[] = []
        const store = await open(fs, { warnings })
        expect(await content(store)).toEqual(isCommitted ? ['x1+x2', 'y1+y2'] : ['x1+x2'])
        const ref = await store.seal(batch('z'))
        expect(await framesOf(store, ref)).toEqual([
          `a/${isCommitted ? 3 : 2}/z1=z1`,
          `b/${isCommitted ? 3 : 2}/z2=z2`,
        ])
        const quarantine = await fs.list(`${DIR}/shards/shard-0000/quarantine`)
        if (point === 'after_rename_before_manifest') {
          expect(quarantine.join()).toMatch(/^orphan-\d+-seg-0{19}2-[0-9a-f]{32}\.ccxseg$/)
          expect(warnings.join()).toContain('orphan-')
          // The number of a segment that was put aside is not used again.
          expect(ref.seq).toBe(3)
        }
        if (point === 'after_write_tmp' && survive === 1) {
          expect(quarantine.join()).toMatch(/^tmp-\d+-seg-0{19}2-[0-9a-f]{32}\.partial$/)
        }
      })
    }
  }
})
