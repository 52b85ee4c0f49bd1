import {
  encodeCommitFrame,
  encodeFrame,
  encodeManifestRecord,
  encodeSegmentHeader,
  loadHashes,
  segmentIdOf,
} from 'crux-segment'
import { ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { createFaultyFs, type FaultyFs } from '../testing/faulty-fs.js'
import { framesOf, testFrame } from '../testing/segment-store-contract.js'
import { openFileSegmentStore } from './file-segment-store.js'
import { COMPANION_KINDS, type SegmentStore } from './segment-store.js'
import { segmentStem } from './shard-layout.js'

const SHARD = '/data/shards/shard-0000'
const START = Date.UTC(2026, 0, 1)

function open(fs: FaultyFs, warnings: string[] = []): Promise<SegmentStore> {
  const onWarning = (message: string) => void warnings.push(message)
  return openFileSegmentStore({ dir: '/data', fs, clock: new ManualClock(START), onWarning })
}

async function withSegments(...names: readonly string[]): Promise<FaultyFs> {
  const fs = createFaultyFs()
  const store = await open(fs)
  for (const name of names) {
    await store.seal({
      frames: [testFrame('a', name)],
      companions: async () => [{ kind: 'ccxi', bytes: new TextEncoder().encode(name) }],
    })
  }
  await store.close()
  return fs
}

async function content(store: SegmentStore): Promise<readonly string[]> {
  const all = await Promise.all((await store.list()).map((ref) => framesOf(store, ref)))
  return all.flat()
}

const stem = (seq: number) => segmentStem(seq, segmentIdOf(1, seq))
const segmentFile = (seq: number, extension = 'ccxseg') =>
  `${SHARD}/segments/${stem(seq)}.${extension}`
const present = (bytes: Uint8Array | undefined): Uint8Array => bytes ?? new Uint8Array(0)
const text = (value: string) => new TextEncoder().encode(value)

describe('openFileSegmentStore', () => {
  it('lays a shard out with the documented names', async () => {
    const fs = await withSegments('one')
    expect([...(await fs.list(SHARD))].sort()).toEqual([
      'MANIFEST',
      'quarantine',
      'segments',
      'tmp',
    ])
    expect([...(await fs.list(`${SHARD}/segments`))].sort()).toEqual([
      'seg-00000000000000000001-01000000000000000100000000000000.ccxi',
      'seg-00000000000000000001-01000000000000000100000000000000.ccxseg',
    ])
  })

  it('opens to the last committed state wherever the MANIFEST is cut', async () => {
    const whole = await withSegments('one', 'two')
    const manifest = present(whole.peek(`${SHARD}/MANIFEST`))
    const one = present((await withSegments('one')).peek(`${SHARD}/MANIFEST`))
    const files = [1, 2].flatMap((seq) => [segmentFile(seq), segmentFile(seq, 'ccxi')])
    for (let cut = 256; cut < manifest.length; cut += 5) {
      const fs = createFaultyFs()
      for (const path of files) fs.plant(path, present(whole.peek(path)))
      fs.plant(`${SHARD}/MANIFEST`, manifest.subarray(0, cut))
      const warnings: string[] = []
      const store = await open(fs, warnings)
      const expected = cut < one.length ? [] : ['a/1/one=one']
      expect(await content(store), `cut at ${cut}`).toEqual(expected)
      // What lost its record is put aside, with its companion, and its number stays taken.
      const quarantine = await fs.list(`${SHARD}/quarantine`)
      expect(quarantine.filter((name) => name.endsWith(`${stem(2)}.ccxseg`))).toHaveLength(1)
      expect(quarantine.filter((name) => name.endsWith(`${stem(2)}.ccxi`))).toHaveLength(1)
      expect(warnings.length).toBeGreaterThan(0)
      const ref = await store.seal({ frames: [testFrame('a', 'three')] })
      expect(ref.seq).toBe(3)
      await store.close()
      expect(await content(await open(fs))).toEqual([
        ...expected,
        `a/${expected.length + 1}/three=three`,
      ])
    }
  })

  it('keeps the torn end of a MANIFEST before it cuts it', async () => {
    const fs = await withSegments('one')
    const manifest = present(fs.peek(`${SHARD}/MANIFEST`))
    fs.plant(`${SHARD}/MANIFEST`, Buffer.concat([manifest, Buffer.from('torn')]))
    expect(await content(await open(fs))).toEqual(['a/1/one=one'])
    expect(fs.peek(`${SHARD}/MANIFEST`)).toEqual(manifest)
    const [copy] = await fs.list(`${SHARD}/quarantine`)
    expect(fs.peek(`${SHARD}/quarantine/${copy}`)).toEqual(text('torn'))
  })

  it('refuses a shard whose MANIFEST is lost or damaged, and touches nothing', async () => {
    const fs = await withSegments('one')
    const manifest = present(fs.peek(`${SHARD}/MANIFEST`))
    for (const bad of [manifest.subarray(0, 255), Buffer.alloc(300)]) {
      fs.plant(`${SHARD}/MANIFEST`, bad)
      await expect(open(fs)).rejects.toMatchObject({
        code: 'SEGMENT_CORRUPT',
        data: { path: `${SHARD}/MANIFEST` },
      })
    }
    await fs.unlink(`${SHARD}/MANIFEST`)
    await expect(open(fs)).rejects.toThrow(/backup/)
    fs.plant(`${SHARD}/MANIFEST`, manifest)
    expect(await content(await open(fs))).toEqual(['a/1/one=one'])
  })

  it('makes a new MANIFEST where a first start was interrupted', async () => {
    const fs = createFaultyFs()
    fs.plant(`${SHARD}/MANIFEST`, new Uint8Array(100))
    expect(await content(await open(fs))).toEqual([])
  })

  it('refuses to open over a damaged head, table of contents or foot of a segment, naming the file', async () => {
    const good = present((await withSegments('one')).peek(segmentFile(1)))
    const footerAt = good.length - 256
    const tocAt = Buffer.from(good).readUInt32LE(footerAt + 80)
    for (const at of [0, 40, 4095, tocAt, tocAt + 130, footerAt, good.length - 1]) {
      const fs = await withSegments('one', 'two')
      const bad = Uint8Array.from(good)
      bad[at] = (bad[at] ?? 0) ^ 1
      fs.plant(segmentFile(1), bad)
      await expect(open(fs), `byte ${at}`).rejects.toMatchObject({
        code: 'SEGMENT_CORRUPT',
        data: { path: segmentFile(1) },
      })
    }
    for (const size of [0, 100, 4096, good.length - 1]) {
      const fs = await withSegments('one')
      fs.plant(segmentFile(1), good.subarray(0, size))
      await expect(open(fs)).rejects.toMatchObject({ code: 'SEGMENT_CORRUPT' })
    }
  })

  it('finds damaged records when they are read, and serves the other segments', async () => {
    const fs = await withSegments('one', 'two')
    const bad = present(fs.peek(segmentFile(1)))
    bad[4200] = (bad[4200] ?? 0) ^ 1
    fs.plant(segmentFile(1), bad)
    const store = await open(fs)
    const [one, two] = await store.list()
    if (one === undefined || two === undefined) throw new Error('two segments were sealed')
    await expect(store.read(one)).rejects.toMatchObject({
      code: 'SEGMENT_CORRUPT',
      data: { path: segmentFile(1) },
    })
    expect(await framesOf(store, two)).toEqual(['a/2/two=two'])
  })

  it('refuses another segment in the place of a committed one', async () => {
    const fs = await withSegments('one')
    fs.plant(segmentFile(1), present((await withSegments('eno')).peek(segmentFile(1))))
    await expect(open(fs)).rejects.toThrow(/not the segment that was committed/)
  })

  it('goes on without a segment that an operator moved to quarantine, and only then', async () => {
    const fs = await withSegments('one', 'two')
    const bytes = present(fs.peek(segmentFile(1)))
    await fs.unlink(segmentFile(1))
    await expect(open(fs)).rejects.toThrow(/missing/)
    fs.plant(`${SHARD}/quarantine/${stem(1)}.ccxseg`, bytes)
    const warnings: string[] = []
    const store = await open(fs, warnings)
    expect(await content(store)).toEqual(['a/2/two=two'])
    expect(warnings.join()).toContain('segment 1 is in quarantine')
    await store.close()
    await fs.rename(`${SHARD}/quarantine/${stem(1)}.ccxseg`, segmentFile(1))
    expect(await content(await open(fs))).toEqual(['a/1/one=one', 'a/2/two=two'])
  })

  it('puts aside what does not belong, and leaves what does', async () => {
    const fs = await withSegments('one')
    fs.plant(`${SHARD}/tmp/${stem(9)}.partial`, text('half'))
    fs.plant(segmentFile(4), text('unknown'))
    fs.plant(segmentFile(4, 'ccxi'), text('of the unknown'))
    fs.plant(segmentFile(1, 'ccxv'), text('vectors'))
    fs.plant(`${SHARD}/segments/notes.txt`, text('?'))
    fs.plant(`${SHARD}/directory/dirrun-l0-r00000000000000000001.ccxdir`, text('kept'))
    fs.plant(`${SHARD}/directory/dirrun-l0-r00000000000000000002.ccxdir`, text('orphan'))
    const run = encodeManifestRecord({
      type: 'add-directory-run',
      level: 0,
      shardId: 0,
      epoch: 1,
      runId: 1,
      fileLength: 4,
      path: 'directory/dirrun-l0-r00000000000000000001.ccxdir',
      createdAtNs: 0n,
      recordCount: 0,
    })
    const manifest = present(fs.peek(`${SHARD}/MANIFEST`))
    fs.plant(`${SHARD}/MANIFEST`, Buffer.concat([manifest, run]))

    const store = await open(fs)
    expect(await content(store)).toEqual(['a/1/one=one'])
    const kinds = [...(await fs.list(`${SHARD}/quarantine`))].map((name) =>
      name.replace(/-\d{19}-/, ' '),
    )
    expect(kinds.sort()).toEqual([
      'dirrun-orphan dirrun-l0-r00000000000000000002.ccxdir',
      'orphan notes.txt',
      `orphan ${stem(4)}.ccxi`,
      `orphan ${stem(4)}.ccxseg`,
      `tmp ${stem(9)}.partial`,
    ])
    expect([...(await fs.list(`${SHARD}/segments`))].sort()).toEqual([
      `${stem(1)}.ccxi`,
      `${stem(1)}.ccxseg`,
      `${stem(1)}.ccxv`,
    ])
    expect(await fs.list(`${SHARD}/directory`)).toEqual(['dirrun-l0-r00000000000000000001.ccxdir'])
    expect((await store.seal({ frames: [testFrame('a', 'x')] })).seq).toBe(10)
  })

  it('knows companions of every kind: keeps those of a segment, deletes or puts aside the others', async () => {
    const fs = await withSegments('one', 'two')
    const [one] = await (await open(fs)).list()
    const plantAll = (seq: number) => {
      for (const kind of COMPANION_KINDS) fs.plant(segmentFile(seq, kind), text(kind))
    }
    const there = async (seq: number) =>
      (await fs.list(`${SHARD}/segments`)).filter((name) => name.startsWith(`${stem(seq)}.`)).sort()
    plantAll(1)
    plantAll(2)
    plantAll(3)
    const store = await open(fs)
    const all = (seq: number) =>
      [...COMPANION_KINDS, 'ccxseg'].map((kind) => `${stem(seq)}.${kind}`).sort()
    expect([await there(1), await there(2), await there(3)]).toEqual([all(1), all(2), []])
    expect(await fs.list(`${SHARD}/quarantine`)).toHaveLength(COMPANION_KINDS.length)
    if (one !== undefined) await store.remove(one)
    expect([await there(1), await there(2)]).toEqual([[], all(2)])
    plantAll(1)
    await store.close()
    await open(fs)
    expect([await there(1), await there(2)]).toEqual([[], all(2)])
  })

  it('finishes a removal that a crash interrupted', async () => {
    const fs = await withSegments('one', 'two')
    const [seg, index] = [segmentFile(1), segmentFile(1, 'ccxi')].map((path) =>
      present(fs.peek(path)),
    )
    const store = await open(fs)
    const [one] = await store.list()
    if (one !== undefined) await store.remove(one)
    await store.close()
    fs.plant(segmentFile(1), present(seg))
    fs.plant(segmentFile(1, 'ccxi'), present(index))
    expect(await content(await open(fs))).toEqual(['a/2/two=two'])
    expect(fs.peek(segmentFile(1))).toBeUndefined()
    expect(fs.peek(segmentFile(1, 'ccxi'))).toBeUndefined()
    expect(await fs.list(`${SHARD}/quarantine`)).toEqual([])
  })

  it('takes no frames for a stream that has a tombstone', async () => {
    const { streamHash } = await import('crux-segment')
    const fs = await withSegments('one')
    const tombstone = encodeManifestRecord({
      type: 'stream-meta',
      streamHash: streamHash('tenant-a', 'notes', 'a', await loadHashes()),
      minLiveSeq: 0,
      tombstoneSeq: 2,
      generation: 1,
    })
    const manifest = present(fs.peek(`${SHARD}/MANIFEST`))
    fs.plant(`${SHARD}/MANIFEST`, Buffer.concat([manifest, tombstone]))
    const store = await open(fs)
    await expect(store.seal({ frames: [testFrame('a', 'x')] })).rejects.toMatchObject({
      code: 'SEGMENT_BATCH_INVALID',
    })
    await store.seal({ frames: [testFrame('b', 'x')] })
  })
})

describe('the head of another writer', () => {
  const headFile = (seq: number) => segmentFile(seq, 'ccxhead')

  async function head(seq: number, epoch = 1, ...batches: readonly (readonly number[])[]) {
    const hashes = await loadHashes()
    const identity = { shardId: 0, epoch, segmentSeq: seq, createdAtNs: 5_000_000n }
    let bytes = Buffer.from(
      encodeSegmentHeader({ ...identity, segmentId: segmentIdOf(epoch, seq) }),
    )
    for (const [i, seqs] of batches.entries()) {
      for (const frameSeq of seqs) {
        const { payload, ...fields } = testFrame('a', `h${frameSeq}`)
        const ingestedAt = fields.occurredAt
        const frame = encodeFrame({ ...fields, seq: frameSeq, ingestedAt }, payload, hashes)
        bytes = Buffer.concat([bytes, frame])
      }
      const commit = encodeCommitFrame(bytes, { commitId: i + 1, commitSeq: i + 1 })
      bytes = Buffer.concat([bytes, commit])
    }
    return bytes
  }

  it('is sealed at the next start: whole batches, nothing behind the last commit', async () => {
    const fs = await withSegments('one')
    const bytes = await head(2, 1, [2, 3], [4])
    fs.plant(headFile(2), Buffer.concat([bytes, Buffer.from('never committed')]))
    const warnings: string[] = []
    const store = await open(fs, warnings)
    const frames = ['a/1/one=one', 'a/2/h2=h2', 'a/3/h3=h3', 'a/4/h4=h4']
    expect(await content(store)).toEqual(frames)
    expect(fs.peek(headFile(2))).toBeUndefined()
    expect(warnings.join()).toContain('3 frames')
    const ref = await store.seal({ frames: [testFrame('a', 'next')] })
    expect(ref.seq).toBe(3)
    await store.close()
    expect(await content(await open(fs))).toEqual([...frames, 'a/5/next=next'])
  })

  it('is sealed once, whenever power goes meanwhile', async () => {
    const bytes = await head(2, 1, [2])
    for (let n = 1; ; n++) {
      const fs = await withSegments('one')
      fs.plant(headFile(2), bytes)
      fs.failAt(n)
      await open(fs).catch(() => {})
      const isPast = fs.clearFailure()
      fs.crash()
      expect(await content(await open(fs)), `call ${n}`).toEqual(['a/1/one=one', 'a/2/h2=h2'])
      expect(fs.peek(headFile(2))).toBeUndefined()
      if (isPast) break
    }
  })

  it('is deleted when it holds nothing committed, or was sealed already', async () => {
    const fs = await withSegments('one')
    fs.plant(headFile(1), await head(1, 1, [9]))
    fs.plant(headFile(2), await head(2))
    expect(await content(await open(fs))).toEqual(['a/1/one=one'])
    expect(fs.peek(headFile(1))).toBeUndefined()
    expect(fs.peek(headFile(2))).toBeUndefined()
    expect(await fs.list(`${SHARD}/quarantine`)).toEqual([])
  })

  it('is put aside when it is an older one, of another epoch, misnamed or damaged', async () => {
    for (const [name, bytes] of [
      ['another epoch', await head(2, 7, [2])],
      ['misnamed', await head(3, 1, [2])],
      ['damaged', Buffer.concat([Buffer.alloc(4096), await head(2, 1, [2])])],
    ] as const) {
      const fs = await withSegments('one')
      fs.plant(headFile(2), bytes)
      expect(await content(await open(fs)), name).toEqual(['a/1/one=one'])
      const [aside] = await fs.list(`${SHARD}/quarantine`)
      expect(aside).toMatch(/^head-orphan-\d{19}-seg-0{19}2-/)
      expect(fs.peek(`${SHARD}/quarantine/${aside}`)).toEqual(new Uint8Array(bytes))
    }
    const fs = await withSegments('one')
    fs.plant(headFile(2), await head(2, 1, [2]))
    fs.plant(headFile(3), await head(3, 1, [5]))
    expect(await content(await open(fs))).toEqual(['a/1/one=one', 'a/5/h5=h5'])
    expect(await fs.list(`${SHARD}/quarantine`)).toHaveLength(1)
  })
})
