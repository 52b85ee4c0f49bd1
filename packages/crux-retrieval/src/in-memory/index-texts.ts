import { type Hashes, tenantHash } from 'crux-segment'
import { type Pause, runInSlices } from 'crux-types'
import { analyserOf, DEFAULT_ANALYSER_VERSION } from '../analyser/analyser.js'
import { textToIndex } from '../evaluation/collection.js'
import { createIndexBuilder } from '../lexical/index-builder.js'
import { PostingsCollector } from '../lexical/postings-collector.js'
import type { IndexFiles } from '../lexical/term-collector.js'
import { ownerOf } from './memory-segments.js'
import type { TextEntry } from './text-table.js'

/** How texts are indexed. */
export interface IndexTextsOptions {
  readonly hashes: Hashes
  /** Keep the words of the texts in order. */
  readonly words: boolean
  readonly pause: Pause
}

/** UTF-16 units up to which it takes longer to start the index kernel than to do without it. */
const SMALL_UNITS = 8 * 1024
const TARGET = { shardId: 0, segmentSeq: 1, epoch: 1 }

/** The index files of texts, each the document of its place in the list; undefined when none has a word. */
export async function indexTexts<Fields>(
  entries: readonly TextEntry<Fields>[],
  { hashes, words, pause }: IndexTextsOptions,
): Promise<IndexFiles | undefined> {
  const units = entries.reduce((sum, { content }) => sum + textToIndex(content).length, 0)
  if (units === 0) return undefined
  if (units <= SMALL_UNITS) {
    const collector = new PostingsCollector(hashes, analyserOf(DEFAULT_ANALYSER_VERSION), { words })
    for (const [docId, { content }] of entries.entries()) {
      const text = textToIndex(content)
      const owner = tenantHash(ownerOf(content.group), hashes)
      if (text !== '') await runInSlices(collector.add(docId, text, owner, docId), pause)
    }
    return await collector.finishInSlices(TARGET, pause)
  }
  const builder = createIndexBuilder(hashes, { words })
  for (const [docId, { content }] of entries.entries()) {
    const owner = tenantHash(ownerOf(content.group), hashes)
    await builder.addInSlices(docId, textToIndex(content), owner, docId, pause)
    await pause()
  }
  if (words) return await builder.finishWithWordsInSlices(TARGET, pause)
  const ccxi = await builder.finishInSlices(TARGET, pause)
  return ccxi === undefined ? undefined : { ccxi }
}
