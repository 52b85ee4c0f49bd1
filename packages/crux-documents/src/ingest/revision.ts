import { blake3InSlices, type Hashes } from 'crux-segment'
import type { Pause } from 'crux-types'
import type { CheckedDocument } from './check-request.js'

const DIGEST_BYTES = 32

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
  pause: Pause,
): Promise<EncodedDocument> {
  const payloads: Uint8Array[] = []
  // The document's digest, then two a chunk.
  const digests = new Uint8Array((1 + 2 * document.chunks.length) * DIGEST_BYTES)
  let end = DIGEST_BYTES
  for (const { text, chunkId, chunkIndex, headingPath, metadata } of document.chunks) {
    const payload = Buffer.from(text)
    payloads.push(payload)
    const facts = JSON.stringify([chunkId, chunkIndex, headingPath, metadata ?? null])
    digests.set(hashes.blake3(Buffer.from(facts)), end)
    digests.set(await blake3InSlices(payload, hashes, pause), end + DIGEST_BYTES)
    end += 2 * DIGEST_BYTES
    await pause()
  }
  const { title, url, sourceTimestamp } = document
  const head = Buffer.from(JSON.stringify([title, url, sourceTimestamp]))
  digests.set(hashes.blake3(head))
  const revision = await blake3InSlices(digests, hashes, pause)
  return { ...document, revision: Buffer.from(revision).toString('hex'), payloads }
}
