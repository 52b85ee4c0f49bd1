import type { Hashes } from 'crux-segment'
import { canonicalJson } from './canonical-json.js'
import type { CheckedDocument } from './check-request.js'

/** Frames hold text as UTF-8, so it is encoded once, for the revision and for the frame. */
export interface EncodedDocument extends CheckedDocument {
  /** Hex BLAKE3 over everything the document was ingested with. */
  readonly revision: string
  /** UTF-8 of each chunk's text, in the order of `chunks`. */
  readonly payloads: readonly Uint8Array[]
}

/**
 * Encode a document's text and name its content: equal documents get equal revisions.
 *
 * @param pause - Awaited between chunks.
 */
export async function encodeDocument(
  document: CheckedDocument,
  hashes: Hashes,
  pause: () => Promise<void> | undefined,
): Promise<EncodedDocument> {
  const payloads: Uint8Array[] = []
  const digests: Uint8Array[] = []
  for (const { text, chunkId, chunkIndex, headingPath, metadata } of document.chunks) {
    const payload = Buffer.from(text)
    payloads.push(payload)
    // One digest a chunk: the hash is shared and must not stay open over a pause.
    const facts = canonicalJson([chunkId, chunkIndex, headingPath, metadata ?? null]) ?? ''
    digests.push(hashes.blake3(Buffer.from(facts)), hashes.blake3(payload))
    await pause()
  }
  const { title, url, sourceTimestamp } = document
  const head = Buffer.from(canonicalJson([title, url, sourceTimestamp]) ?? '')
  const revision = hashes.blake3(Buffer.concat([hashes.blake3(head), ...digests]))
  return { ...document, revision: Buffer.from(revision).toString('hex'), payloads }
}
