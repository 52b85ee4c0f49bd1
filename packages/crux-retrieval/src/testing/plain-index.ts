import { encodeCcxi, type Hashes, type IndexedDoc, tenantHash } from 'crux-segment'
import { type Analyser, analyserOf } from '../analyser/analyser.js'
import { createLexicalIndex } from '../lexical/lexical-index.js'
import type { LexicalIndex } from '../lexical/lexical-types.js'

/** A document of a test. */
export interface PlainDoc {
  readonly text: string
  readonly tenant: string
}

/** Documents of a segment by number; undefined where a frame is not indexed. */
export type PlainSegment = readonly (PlainDoc | undefined)[]

/** Version of an analyser. */
export type Version = Analyser['version']

/** First byte of a plain document's frame; those after it follow one byte apart. */
export const FIRST_FRAME = 4096

/**
 * The `.ccxi` of some documents by plain counting, for tests that should not rest on the index
 * builder; undefined when none has a text. Stop words are indexed as every other term.
 */
export function plainCcxi(
  docs: PlainSegment,
  version: Version,
  hashes: Hashes,
): Uint8Array | undefined {
  const counts = new Map<string, Map<number, number>>()
  const entries: (IndexedDoc | undefined)[] = []
  for (const [docId, doc] of docs.entries()) {
    if (doc === undefined || doc.text === '') {
      entries.push(undefined)
      continue
    }
    const tokens = analyserOf(version).analyse(doc.text)
    for (const { term } of tokens) {
      const tfs = counts.get(term) ?? new Map<number, number>()
      tfs.set(docId, (tfs.get(docId) ?? 0) + 1)
      counts.set(term, tfs)
    }
    entries.push({
      frameOffset: FIRST_FRAME + docId,
      lengthTokens: tokens.length,
      tenantHash: tenantHash(doc.tenant, hashes),
    })
  }
  if (entries.every((entry) => entry === undefined)) return undefined
  while (entries.at(-1) === undefined) entries.pop()
  const terms = [...counts]
    .map(([term, tfs]) => ({
      hash: hashes.xxh64Text(term),
      docIds: Uint32Array.from(tfs.keys()),
      tfs: Uint32Array.from(tfs.values()),
    }))
    .sort((a, b) => (a.hash < b.hash ? -1 : 1))
  return encodeCcxi(
    { shardId: 0, segmentSeq: 1, epoch: 1, tokenizerVersion: version, terms, docs: entries },
    hashes,
  )
}

/** An index of segments `s0`, `s1` and so on, each of one version. */
export function plainIndex(
  segments: readonly PlainSegment[],
  versions: Version | readonly Version[],
  hashes: Hashes,
  options: Parameters<typeof createLexicalIndex>[1] = {},
): LexicalIndex {
  const index = createLexicalIndex(hashes, options)
  for (const [i, docs] of segments.entries()) {
    const version = typeof versions === 'number' ? versions : (versions[i] ?? 2)
    const bytes = plainCcxi(docs, version, hashes)
    if (bytes !== undefined) index.addSegment(`s${i}`, bytes)
  }
  return index
}
