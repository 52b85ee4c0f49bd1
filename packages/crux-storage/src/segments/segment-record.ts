import type { AddSegment, SegmentFooter, SegmentName } from 'crux-segment'
import { segmentStem } from './shard-layout.js'

/** Name without extension of the files of a segment. */
export function stemOf(add: SegmentName): string {
  return segmentStem(add.segmentSeq, add.segmentId)
}

/** The record that makes a sealed segment count. */
export function recordOf(footer: SegmentFooter): AddSegment {
  return {
    type: 'add-segment',
    level: 0,
    shardId: footer.shardId,
    epoch: footer.epoch,
    segmentSeq: footer.segmentSeq,
    segmentId: footer.segmentId,
    fileLength: footer.fileLength,
    path: `segments/${segmentStem(footer.segmentSeq, footer.segmentId)}.ccxseg`,
    createdAtNs: footer.createdAtNs,
    sealedAtNs: footer.sealedAtNs,
    tocOffset: footer.tocOffset,
    tocLength: footer.tocLength,
    entryCount: footer.entryCount,
    minStreamHash: footer.minStreamHash,
    minSeq: footer.minSeq,
    maxStreamHash: footer.maxStreamHash,
    maxSeq: footer.maxSeq,
    segmentHash: footer.segmentHash,
  }
}
