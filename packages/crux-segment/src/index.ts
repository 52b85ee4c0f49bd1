export { type CcxfContent, encodeCcxf, encodeCcxfInSlices } from './ccxf/encode-ccxf.js'
export { type CcxfReader, openCcxf } from './ccxf/open-ccxf.js'
export { assembleCcxi, type CcxiAreas } from './ccxi/assemble-ccxi.js'
export { type CcxiCheck, checkCcxi } from './ccxi/check-ccxi.js'
export {
  type CcxiContent,
  encodeCcxi,
  encodeCcxiInSlices,
  type IndexedDoc,
} from './ccxi/encode-ccxi.js'
export type { TermPostings } from './ccxi/encode-terms.js'
export {
  type CcxiHeader,
  type CcxiReader,
  openCcxi,
  openCcxiInSlices,
  openTrustedCcxi,
  type Postings,
} from './ccxi/open-ccxi.js'
export { decodeCcxm, encodeCcxm, encodeCcxmInSlices } from './ccxm.js'
export {
  createSemanticProfile,
  decodeCcxp,
  type EmbeddingFacts,
  encodeCcxp,
  type SemanticProfile,
} from './ccxp.js'
export {
  type CcxvContent,
  type CcxvVectors,
  encodeCcxv,
  encodeCcxvInSlices,
  openCcxv,
  openCcxvInSlices,
} from './ccxv.js'
export { crc32, crc32c } from './checksum.js'
export { inFile, type SegmentFormatErrorCode } from './errors.js'
export { decodeFrame, encodeFrame, type Frame, frameLength, verifyFrame } from './frame.js'
export {
  decodeFrameHeader,
  encodeFrameHeader,
  type FrameFields,
  type FrameHeader,
  frameHeaderLength,
} from './frame-header.js'
export { blake3InSlices } from './hash-in-slices.js'
export { type Hashes, loadHashes } from './hashes.js'
export {
  decodeManifest,
  decodeManifestHeader,
  encodeManifestHeader,
  MANIFEST_HEADER_BYTES,
  type Manifest,
  type ManifestHeader,
} from './manifest/manifest.js'
export {
  type AddDirectoryRun,
  type AddSegment,
  encodeManifestRecord,
  type ManifestRecord,
  type RemoveDirectoryRun,
  type RemoveSegment,
  type ReplaceSegments,
  type SegmentName,
  type StreamMetaUpdate,
  type UnknownRecord,
} from './manifest/manifest-record.js'
export { decodePForDelta } from './pfordelta/read-pfordelta.js'
export { encodePForDelta } from './pfordelta/write-pfordelta.js'
export { type SealFacts, sealReceiptId, sealReceiptMaterial } from './seal-receipt.js'
export {
  checkSameSegment,
  type DecodedSegment,
  decodeSegment,
  decodeSegmentFrame,
  type SegmentFrame,
} from './segment/decode-segment.js'
export { decodeToc, type SegmentEntry, SegmentToc } from './segment/decode-toc.js'
export {
  type EncodedSegment,
  encodeSegment,
  type SegmentContent,
} from './segment/encode-segment.js'
export { type DecodedHead, decodeHead, encodeCommitFrame } from './segment/head.js'
export {
  FOOTER_BYTES as SEGMENT_FOOTER_BYTES,
  HEADER_BYTES as SEGMENT_HEADER_BYTES,
  MAX_SEGMENT_BYTES,
} from './segment/layout.js'
export type { FrameToSeal } from './segment/record-table.js'
export {
  decodeSegmentFooter,
  decodeSegmentHeader,
  encodeSegmentFooter,
  encodeSegmentHeader,
  type SegmentFooter,
  type SegmentIdentity,
  segmentIdOf,
} from './segment/segment-ends.js'
export { streamHash, tenantHash } from './stream-hash.js'
