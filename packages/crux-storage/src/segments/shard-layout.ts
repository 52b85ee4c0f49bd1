import { join } from 'node:path'

/** Names of files in a shard's directory. */
export interface ShardPaths {
  readonly shard: string
  readonly manifest: string
  readonly segments: string
  readonly directory: string
  readonly tmp: string
  readonly quarantine: string
}

/** A name of the form `seg-<seq>-<id>.<extension>`, taken apart. */
export interface SegmentFileName {
  /** Name without extension: what belongs to one segment shares it. */
  readonly stem: string
  readonly seq: number
  /** 32 hex digits. */
  readonly id: string
  readonly extension: string
}

const SEGMENT_FILE = /^(seg-(\d{20})-([0-9a-f]{32}))\.([a-z]+)$/
const SEQ_WITHIN = /seg-(\d{20})-[0-9a-f]{32}/

/** Where a shard of a data directory lies. */
export function shardPaths(dataDir: string, shardId: number): ShardPaths {
  const shard = join(dataDir, 'shards', `shard-${String(shardId).padStart(4, '0')}`)
  return {
    shard,
    manifest: join(shard, 'MANIFEST'),
    segments: join(shard, 'segments'),
    directory: join(shard, 'directory'),
    tmp: join(shard, 'tmp'),
    quarantine: join(shard, 'quarantine'),
  }
}

/** Name without extension of a segment's files. */
export function segmentStem(seq: number, id: Uint8Array | string): string {
  const hex = typeof id === 'string' ? id : Buffer.from(id).toString('hex')
  return `seg-${String(seq).padStart(20, '0')}-${hex}`
}

/** The parts of a segment file's name; undefined for any other name. */
export function parseSegmentFile(name: string): SegmentFileName | undefined {
  const [, stem, seq, id, extension] = SEGMENT_FILE.exec(name) ?? []
  if (stem === undefined || seq === undefined || id === undefined || extension === undefined) {
    return undefined
  }
  return { stem, seq: Number(seq), id, extension }
}

/** The segment number anywhere in a name, as in those of quarantined files; 0 when there is none. */
export function seqWithin(name: string): number {
  const seq = Number(SEQ_WITHIN.exec(name)?.[1] ?? 0)
  return Number.isSafeInteger(seq) ? seq : 0
}
