import { type CcxfContent, encodeCcxf } from '../ccxf/encode-ccxf.js'
import { type CcxiContent, encodeCcxi } from '../ccxi/encode-ccxi.js'
import { encodeCcxm } from '../ccxm.js'
import { createSemanticProfile, type EmbeddingFacts, encodeCcxp } from '../ccxp.js'
import { type CcxvContent, encodeCcxv } from '../ccxv.js'
import { encodeFrame } from '../frame.js'
import type { FrameFields } from '../frame-header.js'
import type { Hashes } from '../hashes.js'
import { encodeManifestHeader } from '../manifest/manifest.js'
import { encodeManifestRecord } from '../manifest/manifest-record.js'
import { encodeSegment } from '../segment/encode-segment.js'
import { encodeCommitFrame } from '../segment/head.js'
import { encodeSegmentHeader } from '../segment/segment-ends.js'
import { tenantHash } from '../stream-hash.js'

const CREATED_AT_NS = 1_767_225_600_000_000_000n
const SEALED_AT_NS = 1_767_225_601_500_000_000n

/** Frames of the golden segment: two streams, an empty payload, text beyond ASCII, bytes that are no text. */
export const GOLDEN_FRAMES: readonly { fields: FrameFields; payload: Uint8Array }[] = [
  frame('guide.md', 1, 'c0001', text('Segments never change once they are sealed.')),
  frame('guide.md', 2, 'c0002', text('Größe, 大小, размер')),
  frame('empty.md', 1, 'c0001', new Uint8Array(0)),
  frame('guide.md', 3, '_bytes', Uint8Array.of(0xff, 0x00, 0xfe)),
]

/** Vectors of two documents. */
export const GOLDEN_VECTORS: CcxvContent = {
  dim: 3,
  docIds: Uint32Array.of(0, 3),
  vectors: Float32Array.of(0.5, -0.25, 0, 1, 0, -1.5),
}

/** An embedder. */
export const GOLDEN_EMBEDDING: EmbeddingFacts = {
  model: 'golden-größe-v1',
  dimensions: 3,
  tokenizer: 'model_default',
  prompt_template_version: 'none',
  normalisation: 'l2',
}

/** Words of four documents, two of them without any; one number takes two bytes. */
export const GOLDEN_WORDS: CcxfContent = {
  tokenizerVersion: 2,
  strings: ['größe', 'seal', ...Array.from({ length: 200 }, (_, i) => `term${i}`)],
  stopStrings: ['the', 'of'],
  offsets: Uint32Array.of(0, 4, 4, 4, 7),
  words: Uint32Array.of(202, 1, 203, 0, 201, 1, 100),
}

/** Lists of many blocks, with and without exceptions, and narrow, wide and single ones. */
export function goldenIndex(hashes: Hashes): CcxiContent {
  const docs = Array.from({ length: 2000 }, (_, i) => ({
    frameOffset: 4096 + i * 211,
    lengthTokens: (i % 90) + 1,
    tenantHash: tenantHash(i % 3 === 0 ? 'tenant-b' : 'tenant-a', hashes),
  }))
  const numbers = docs.map((_, i) => i)
  const lists = [
    numbers,
    numbers.filter((i) => i % 37 === 0),
    numbers.filter((i) => i % 100 < 3),
    numbers.filter((i) => i < 150 || i % 400 === 0),
    [1999],
  ]
  return {
    shardId: 0,
    segmentSeq: 7,
    epoch: 1,
    tokenizerVersion: 2,
    terms: lists.map((list, term) => ({
      hash: 0x1000_0000_0000_0000n * BigInt(term + 1) + BigInt(term),
      docIds: Uint32Array.from(list),
      tfs: Uint16Array.from(list, (doc) => (doc % 300) + 1),
    })),
    docs,
  }
}

/**
 * Every format with fixed content, in the bytes of this version.
 *
 * @returns Bytes by path below `fixtures/`.
 */
export async function goldenFiles(hashes: Hashes): Promise<ReadonlyMap<string, Uint8Array>> {
  const [first] = GOLDEN_FRAMES
  if (first === undefined) throw new Error('there are golden frames')
  const segment = await encodeSegment(
    {
      shardId: 0,
      epoch: 1,
      segmentSeq: 7,
      createdAtNs: CREATED_AT_NS,
      sealedAtNs: SEALED_AT_NS,
      frames: GOLDEN_FRAMES,
    },
    hashes,
  )
  const { footer } = segment
  const ccxi = encodeCcxi(
    {
      shardId: 0,
      segmentSeq: 7,
      epoch: 1,
      tokenizerVersion: 1,
      terms: ['change', 'seal', 'segment']
        .map((term) => hashes.xxh64Text(term))
        .sort((a, b) => (a < b ? -1 : 1))
        .map((hash) => ({ hash, docIds: Uint32Array.of(0, 3), tfs: Uint16Array.of(1, 2) })),
      docs: [
        { frameOffset: 4096, lengthTokens: 7, tenantHash: tenantHash('tenant-a', hashes) },
        undefined,
        undefined,
        { frameOffset: 4700, lengthTokens: 2, tenantHash: tenantHash('tenant-b', hashes) },
      ],
    },
    hashes,
  )
  const longIndex = encodeCcxi(goldenIndex(hashes), hashes)
  const manifest = [
    encodeManifestHeader({ shardId: 0, epoch: 1, createdAtNs: CREATED_AT_NS }),
    encodeManifestRecord({
      ...footer,
      type: 'add-segment',
      level: 0,
      path: 'segments/seg-00000000000000000007-01000000000000000700000000000000.ccxseg',
    }),
    encodeManifestRecord({
      type: 'add-directory-run',
      level: 0,
      shardId: 0,
      epoch: 1,
      runId: 7,
      fileLength: 8192,
      path: 'directory/dirrun-l0-r00000000000000000007.ccxdir',
      createdAtNs: CREATED_AT_NS,
      recordCount: 2,
    }),
    encodeManifestRecord({ type: 'remove-directory-run', level: 0, runId: 7 }),
    encodeManifestRecord({
      type: 'stream-meta',
      streamHash: footer.minStreamHash,
      minLiveSeq: 2,
      tombstoneSeq: 0,
      generation: 1,
    }),
    encodeManifestRecord({
      type: 'remove-segment',
      level: 0,
      segmentSeq: footer.segmentSeq,
      segmentId: footer.segmentId,
    }),
  ]
  const openHead = Buffer.concat([
    encodeSegmentHeader(footer),
    encodeFrame(first.fields, first.payload, hashes),
  ])
  const commit = encodeCommitFrame(openHead, { commitId: 1, commitSeq: 1 })
  return new Map([
    ['frame/v1/frame.bin', encodeFrame(first.fields, first.payload, hashes)],
    ['ccxseg/v3/segment.ccxseg', segment.bytes],
    ['ccxhead/v3/head.ccxhead', new Uint8Array(Buffer.concat([openHead, commit]))],
    ['ccxi/v2/index.ccxi', ccxi],
    ['ccxi/v2/analyser-2.ccxi', longIndex],
    ['ccxv/v1/vectors.ccxv', encodeCcxv(GOLDEN_VECTORS)],
    ['ccxp/v1/profile.ccxp', encodeCcxp(createSemanticProfile(GOLDEN_EMBEDDING, hashes))],
    ['ccxp/v1/revision.ccxp', encodeCcxp(createSemanticProfile(GOLDEN_EMBEDDING, hashes, 'r2'))],
    ['ccxf/v1/forward.ccxf', encodeCcxf(GOLDEN_WORDS, hashes)],
    ['ccxm/v1/metadata.ccxm', encodeCcxm(text('{"documents":[]}'))],
    ['manifest/v1/MANIFEST', new Uint8Array(Buffer.concat(manifest))],
  ])
}

function frame(streamId: string, seq: number, eventId: string, payload: Uint8Array) {
  const fields: FrameFields = {
    tenantId: 'tenant-a',
    streamType: 'handbook',
    streamId,
    seq,
    eventId,
    occurredAt: '2026-01-01T00:00:00.000Z',
    ingestedAt: '2026-01-01T00:00:01.500Z',
    eventType: 'corecrux.prose.chunk.v1',
    contentType: 'text/plain; charset=utf-8',
  }
  return { fields, payload }
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value)
}
