import {
  type CcxfContent,
  type CcxiContent,
  encodeCcxf,
  encodeCcxfInSlices,
  encodeCcxi,
  encodeCcxiInSlices,
  type Hashes,
  type IndexedDoc,
  type TermPostings,
} from 'crux-segment'
import { type Pause, runInSlices, runNow, type Steps } from 'crux-types'
import type { Analyser, Token } from '../analyser/analyser.js'
import { orderByHash } from './order-by-hash.js'
import type { IndexFiles, IndexTarget, TermCollector } from './term-collector.js'

/** UTF-16 units of text between two looks at the clock. */
const TEXT_SLICE = 8 * 1024
/** Terms or words between two looks at the clock. */
const SLICE = 4096

/** A term that was met, or a stop word. */
interface Term {
  readonly text: string
  /** Documents that hold it; none of a stop word. */
  readonly docIds: number[]
  /** Times in each of `docIds`. */
  readonly tfs: number[]
  /** Place among the terms of the index, or after them; set at the end. */
  rank: number
}

/**
 * Collects terms in plain lists, for any analyser. The kernel does the same work several times
 * faster for one of them and is held to the same bytes.
 */
export class PostingsCollector implements TermCollector {
  private readonly terms = new Map<string, Term>()
  private readonly stops = new Map<string, Term>()
  private readonly docs: (IndexedDoc | undefined)[] = []
  private readonly words: Term[] = []
  private readonly wordEnds: number[] = [0]

  constructor(
    private readonly hashes: Hashes,
    private readonly analyser: Analyser,
    private readonly keeps: { readonly words: boolean },
  ) {}

  *add(docId: number, text: string, tenantHash: bigint, frameOffset: number): Steps<void> {
    while (this.docs.length < docId) this.endDoc(undefined)
    let words = 0
    const take = (token: Token): void => {
      const isWord = token.kind === 'word' || token.kind === 'part'
      if (isWord) words += 1
      if (token.isStop && !this.keeps.words) return
      const term = this.termOf(token)
      if (!token.isStop) count(term, docId)
      if (isWord && this.keeps.words) this.words.push(term)
    }
    const stream = this.analyser.stream(text)
    while (stream.read(TEXT_SLICE, take)) yield
    this.endDoc({ frameOffset, lengthTokens: words, tenantHash })
  }

  finish(target: IndexTarget): IndexFiles {
    const sorted = runNow(this.sort())
    const ccxi = encodeCcxi(this.inverted(sorted, target), this.hashes)
    if (!this.keeps.words) return { ccxi }
    return { ccxi, ccxf: encodeCcxf(this.forward(sorted), this.hashes) }
  }

  async finishInSlices(target: IndexTarget, pause: Pause): Promise<IndexFiles> {
    const sorted = await runInSlices(this.sort(), pause)
    const ccxi = await encodeCcxiInSlices(this.inverted(sorted, target), this.hashes, pause)
    if (!this.keeps.words) return { ccxi }
    return { ccxi, ccxf: await encodeCcxfInSlices(this.forward(sorted), this.hashes, pause) }
  }

  private termOf({ term: text, isStop }: Token): Term {
    const known = isStop ? this.stops : this.terms
    let term = known.get(text)
    if (term === undefined) {
      term = { text, docIds: [], tfs: [], rank: known.size }
      known.set(text, term)
    }
    return term
  }

  private endDoc(doc: IndexedDoc | undefined): void {
    this.docs.push(doc)
    this.wordEnds.push(this.words.length)
  }

  /** Terms by ascending hash; those of one hash together. */
  private *sort(): Steps<Sorted> {
    const terms = [...this.terms.values()]
    const full = new BigUint64Array(terms.length)
    for (const [i, { text }] of terms.entries()) {
      if (i % SLICE === 0) yield
      full[i] = this.hashes.xxh64Text(text)
    }
    const sorted: { hash: bigint; terms: Term[] }[] = []
    for (const [i, place] of (yield* orderByHash(full)).entries()) {
      if (i % SLICE === 0) yield
      const hash = full[place] as bigint // places are those of `terms`
      const term = terms[place] as Term
      const last = sorted.at(-1)
      if (last?.hash === hash) last.terms.push(term)
      else sorted.push({ hash, terms: [term] })
      term.rank = sorted.length - 1
    }
    return sorted
  }

  private inverted(sorted: Sorted, target: IndexTarget): CcxiContent {
    const { docs, analyser } = this
    return { ...target, tokenizerVersion: analyser.version, docs, terms: lists(sorted) }
  }

  private forward(sorted: Sorted): CcxfContent {
    return {
      tokenizerVersion: this.analyser.version,
      strings: sorted.map(({ terms }) => terms[0]?.text ?? ''),
      stopStrings: [...this.stops.keys()],
      offsets: Uint32Array.from(this.wordEnds),
      words: Uint32Array.from(this.words, (term) =>
        term.docIds.length === 0 ? sorted.length + term.rank : term.rank,
      ),
    }
  }
}

type Sorted = readonly { readonly hash: bigint; readonly terms: readonly Term[] }[]

function count({ docIds, tfs }: Term, docId: number): void {
  const last = docIds.length - 1
  if (docIds[last] === docId) tfs[last] = (tfs[last] ?? 0) + 1
  else {
    docIds.push(docId)
    tfs.push(1)
  }
}

function* lists(sorted: Sorted): Generator<TermPostings> {
  for (const { hash, terms } of sorted) {
    const { docIds, tfs } = terms.reduce(united)
    yield { hash, docIds: Uint32Array.from(docIds), tfs: Uint32Array.from(tfs) }
  }
}

/** Two terms of one hash are one term to every reader of the index. */
function united(a: Term, b: Term): Term {
  const counts = new Map<number, number>()
  for (const { docIds, tfs } of [a, b]) {
    for (const [i, docId] of docIds.entries()) {
      counts.set(docId, (counts.get(docId) ?? 0) + (tfs[i] ?? 0))
    }
  }
  const sorted = [...counts].sort(([one], [other]) => one - other)
  const docIds = sorted.map(([docId]) => docId)
  return { ...a, docIds, tfs: sorted.map(([, tf]) => tf) }
}
