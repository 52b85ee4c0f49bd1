import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemorySegmentStore, openFileSegmentStore, type SegmentStore } from 'crux-storage'
import { ANONYMOUS, ManualClock } from 'crux-types'
import { expect, onTestFinished } from 'vitest'
import type { DocumentInput, DocumentStore, IngestRequest } from '../document-store.js'
import { type DocumentStoreOptions, openDocumentStore } from '../open-document-store.js'

const clock = new ManualClock(Date.parse('2026-01-31T12:00:00Z'))

/** Opens segment stores; `reopen` gives what a restart finds. */
export interface Backend {
  /** Random histories to try. */
  readonly runs: number
  readonly open: () => Promise<{ segments: SegmentStore; reopen: () => Promise<SegmentStore> }>
}

const memory: Backend = {
  runs: 25,
  open: async () => {
    const segments = await createMemorySegmentStore({ clock })
    return { segments, reopen: async () => segments }
  },
}

const files: Backend = {
  runs: 4,
  open: async () => {
    const dir = await mkdtemp(join(tmpdir(), 'crux-documents-'))
    onTestFinished(() => rm(dir, { recursive: true, force: true }))
    let segments = await openFileSegmentStore({ dir, clock })
    onTestFinished(() => segments.close())
    return {
      segments,
      reopen: async () => {
        await segments.close()
        segments = await openFileSegmentStore({ dir, clock })
        return segments
      },
    }
  },
}

/** The store with some methods done otherwise. */
export const altered = (segments: SegmentStore, over: Partial<SegmentStore>): SegmentStore => ({
  list: () => segments.list(),
  read: (ref) => segments.read(ref),
  readRange: (ref, offset, length) => segments.readRange(ref, offset, length),
  readCompanion: (ref, kind) => segments.readCompanion(ref, kind),
  writeCompanion: (ref, companion) => segments.writeCompanion(ref, companion),
  seal: (batch) => segments.seal(batch),
  remove: (ref) => segments.remove(ref),
  replace: (refs, by) => segments.replace(refs, by),
  close: () => segments.close(),
  ...over,
})

/** A document store on these segments, closed when the test ends; its warnings go into the list. */
export const openOn = async (
  segments: SegmentStore,
  buildIndex = true,
  warnings: string[] = [],
  more: Partial<DocumentStoreOptions> = {},
) => {
  const onWarning = (message: string) => warnings.push(message)
  const documents = await openDocumentStore({
    segments,
    clock,
    buildIndex,
    onWarning,
    ...more,
  })
  onTestFinished(() => documents.close())
  return documents
}

/** A document of these chunks. */
export const text = (docId: string, ...passages: string[]): DocumentInput => ({
  docId,
  chunks: passages.map((passage, i) => ({ chunkId: `c${i}`, text: passage })),
})

/** A request for corpus `notes` of tenant `acme`. */
export const request = (over: Partial<IngestRequest> = {}): IngestRequest => ({
  tenant: 'acme',
  corpus: 'notes',
  documents: [],
  ...over,
})

/** Text of every chunk that a query finds, best first. */
export async function find(documents: DocumentStore, query: string, tenant = 'acme') {
  const answer = await documents.search(ANONYMOUS, { tenant, query, limit: 100 })
  const handles = answer.hits.map((hit) => hit.chunkRef)
  const expanded = await documents.expand(ANONYMOUS, { tenant, handles, includeText: true })
  expect(expanded.errors).toEqual([])
  return expanded.content.map((content) => content.text)
}

/** Both implementations of the segment store, for `describe.each`. */
export const BACKENDS: readonly (readonly [name: string, backend: Backend])[] = [
  ['memory', memory],
  ['files', files],
]
