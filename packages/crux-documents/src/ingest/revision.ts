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
 * @param space - What its vectors are of: the hash of their profile; empty when that is not known.
 * @param pause - Awaited between chunks.
 */
export async function encodeDocument(
  document: CheckedDocument,
  hashes: Hashes,
  pause: Pause,
  space = '',
): Promise<EncodedDocument> {
  const payloads: Uint8Array[] = []
  const vectors = document.chunks.filter(({ vector }) => vector !== undefined).length
  // The document's digest, two a chunk, and one more a vector.
  const digests = new Uint8Array((1 + 2 * document.chunks.length + vectors) * DIGEST_BYTES)
  let end = DIGEST_BYTES
  for (const { text, chunkId, chunkIndex, headingPath, metadata, vector } of document.chunks) {
    const payload = Buffer.from(text)
    payloads.push(payload)
    const facts = JSON.stringify([chunkId, chunkIndex, headingPath, metadata ?? null])
    digests.set(hashes.blake3(Buffer.from(facts)), end)
    digests.set(await blake3InSlices(payload, hashes, pause), end + DIGEST_BYTES)
    end += 2 * DIGEST_BYTES
    if (vector !== undefined) {
      digests.set(hashes.blake3(Buffer.from(vector.buffer)), end)
      end += DIGEST_BYTES
    }
    await pause()
  }
  const { title, url, sourceTimestamp } = document
  const ofVectors = vectors > 0 && space !== '' ? [space] : []
  const head = Buffer.from(JSON.stringify([title, url, sourceTimestamp, ...ofVectors]))
  digests.set(hashes.blake3(head))
  const revision = await blake3InSlices(digests, hashes, pause)
  return { ...document, revision: Buffer.from(revision).toString('hex'), payloads }
}
