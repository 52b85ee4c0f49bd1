import type { Hashes } from 'crux-segment'
import type { FrameInput } from 'crux-storage'
import type { Pause } from 'crux-types'
import type { DocumentCatalog } from '../segments/document-catalog.js'
import { type DocumentStream, documentFrames, removalFrame } from '../segments/document-frames.js'
import type { CheckedChunk, CheckedDocument } from './check-request.js'
import { encodeDocument } from './revision.js'

/** What a request comes down to, compared with what is stored. */
export interface Changes {
  /** Descriptions and chunks of new and changed documents, and removals. */
  readonly frames: readonly FrameInput[]
  readonly documents: number
  readonly unchanged: number
  readonly removed: number
  /** Chunks of new and changed documents, with the places of their frames among `frames`. */
  readonly chunks: readonly PlacedChunk[]
  readonly warnings: readonly string[]
}

/** A chunk on its way into a segment. */
export interface PlacedChunk {
  readonly frame: number
  readonly chunk: CheckedChunk
}

/** What {@link selectChanges} compares. */
export interface ChangeSources {
  readonly catalog: DocumentCatalog
  readonly hashes: Hashes
  readonly stream: DocumentStream
  /** Hash of the profile of the vectors that came; empty when there is none. */
  readonly space: string
  /** Awaited between chunks. */
  readonly pause: Pause
  /** Told after each document. */
  readonly onProgress?: ((done: { documents: number; of: number }) => void) | undefined
}

/** Find what of a request is new, and put it into frames. */
export async function selectChanges(
  { catalog, hashes, stream, space, pause, onProgress }: ChangeSources,
  documents: readonly CheckedDocument[],
  remove: readonly string[],
): Promise<Changes> {
  const { tenant, corpus } = stream
  const frames: FrameInput[] = []
  const warnings: string[] = []
  let changed = 0
  let unchanged = 0
  const chunks: PlacedChunk[] = []
  for (const [done, document] of documents.entries()) {
    const { docId } = document
    const stored = catalog.headOf(tenant, corpus, docId)
    if (document.chunks.length === 0) {
      if (catalog.has(tenant, corpus, docId)) warnings.push(keptWarning(docId))
    } else {
      const encoded = await encodeDocument(document, hashes, pause, space)
      if (stored?.removed === false && stored.revision === encoded.revision) unchanged++
      else {
        for (const frame of await documentFrames(stream, encoded, pause)) frames.push(frame)
        changed++
        // The chunks stand last.
        const first = frames.length - encoded.chunks.length
        for (const [i, chunk] of encoded.chunks.entries()) chunks.push({ frame: first + i, chunk })
      }
    }
    onProgress?.({ documents: done + 1, of: documents.length })
    await pause()
  }
  let removed = 0
  // A document named twice is taken out once.
  for (const docId of new Set(remove)) {
    if (catalog.has(tenant, corpus, docId)) {
      frames.push(removalFrame(stream, docId))
      removed++
    }
    await pause()
  }
  return {
    frames,
    documents: changed,
    unchanged,
    removed,
    chunks,
    warnings,
  }
}

function keptWarning(docId: string): string {
  return `document ${JSON.stringify(docId)} came without text and was passed over, so that what is stored of it stays; name it in 'remove' to take it out`
}
