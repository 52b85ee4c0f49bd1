import { posix } from 'node:path'
import type { Run } from '../segments/segment-digest.js'

/** A chunk that holds a link. */
export interface LinkSource {
  readonly doc: string
  /** Sequence number of the chunk's frame in the stream of its document. */
  readonly seq: number
  readonly target: string
}

interface Corpus {
  /** Documents by name, with how many of their runs give it. */
  readonly names: Map<string, Map<string, number>>
  /** Links by the names that their targets may be meant by. */
  readonly links: Map<string, Set<LinkSource>>
}

/**
 * Which chunks link to which documents, by name: links are resolved when they are followed, so that it does
 * not matter which of both ends was ingested first.
 */
export class LinkIndex {
  private readonly corpora = new Map<string, Corpus>()
  /** Links by run; a run that was merged keeps its sequence number, and so its place here. */
  private readonly taken = new Map<string, readonly LinkSource[]>()

  /** Take in a run that is current from now on. */
  add(run: Run): void {
    const corpus = this.corpusOf(run)
    for (const name of namesOf(run)) {
      const docs = corpus.names.get(name) ?? new Map<string, number>()
      docs.set(run.doc, (docs.get(run.doc) ?? 0) + 1)
      corpus.names.set(name, docs)
    }
    const sources = (run.links ?? []).map(([place, target]) => ({
      doc: run.doc,
      seq: run.seq + place,
      target,
    }))
    if (sources.length > 0) this.taken.set(runKey(run), sources)
    for (const source of sources) {
      for (const name of targetNames(source.target)) {
        const links = corpus.links.get(name) ?? new Set<LinkSource>()
        links.add(source)
        corpus.links.set(name, links)
      }
    }
  }

  /** Forget a run that was taken in and is no longer current. */
  remove(run: Run): void {
    const corpus = this.corpusOf(run)
    for (const name of namesOf(run)) {
      const docs = corpus.names.get(name)
      const left = (docs?.get(run.doc) ?? 0) - 1
      if (left > 0) docs?.set(run.doc, left)
      else docs?.delete(run.doc)
      if (docs?.size === 0) corpus.names.delete(name)
    }
    for (const source of this.taken.get(runKey(run)) ?? []) {
      for (const name of targetNames(source.target)) {
        const links = corpus.links.get(name)
        links?.delete(source)
        if (links?.size === 0) corpus.links.delete(name)
      }
    }
    this.taken.delete(runKey(run))
  }

  /**
   * The document that a link means; undefined when there is none.
   *
   * A path from the document's folder or from the root, with or without `.md`, goes before a title or a file
   * name; of several documents of one name the first by id is meant.
   *
   * @param has - Whether the corpus has a document of an id.
   */
  resolve(
    { tenant, corpus, doc }: Pick<Run, 'tenant' | 'corpus' | 'doc'>,
    target: string,
    has: (docId: string) => boolean,
  ): string | undefined {
    const path = decoded(target)
    const fromRoot = posix.normalize(path.replace(/^\/+/, ''))
    const fromFolder = path.startsWith('/') ? fromRoot : posix.join(posix.dirname(doc), path)
    for (const place of [fromFolder, fromRoot, `${fromFolder}.md`, `${fromRoot}.md`]) {
      if (has(place)) return place === doc ? undefined : place
    }
    const names = this.corpora.get(corpusKey(tenant, corpus))?.names
    // A path that leads nowhere is not the name of a document elsewhere.
    const named = names?.get(path.toLowerCase())
    const [first] = [...(named?.keys() ?? [])].filter((docId) => docId !== doc).sort()
    return first
  }

  /** Chunks whose links may mean a document; {@link resolve} says which do. */
  *sourcesOf(run: Run): Iterable<LinkSource> {
    const links = this.corpora.get(corpusKey(run.tenant, run.corpus))?.links
    if (links === undefined || links.size === 0) return
    const seen = new Set<LinkSource>()
    for (const name of namesOf(run)) {
      for (const source of links.get(name) ?? []) {
        if (!seen.has(source)) yield source
        seen.add(source)
      }
    }
  }

  private corpusOf({ tenant, corpus }: Run): Corpus {
    const key = corpusKey(tenant, corpus)
    let known = this.corpora.get(key)
    if (known === undefined) {
      known = { names: new Map(), links: new Map() }
      this.corpora.set(key, known)
    }
    return known
  }
}

const names = new WeakMap<Run, readonly string[]>()

/** What a document may be called: its file name without ending, and its title. */
function namesOf(run: Run): readonly string[] {
  let known = names.get(run)
  if (known === undefined) {
    const title = run.head?.title?.trim().toLowerCase()
    const all = new Set([stemOf(run.doc), posix.basename(run.doc).toLowerCase()])
    if (title !== undefined && title !== '') all.add(title)
    known = [...all]
    names.set(run, known)
  }
  return known
}

/** Names under which the document that a target means is found. */
function targetNames(target: string): ReadonlySet<string> {
  const path = decoded(target)
  return new Set([stemOf(path), path.toLowerCase()])
}

function stemOf(path: string): string {
  return posix
    .basename(path)
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target)
  } catch {
    return target
  }
}

/** Neither part can hold NUL. */
function corpusKey(tenant: string, corpus: string): string {
  return `${tenant}\0${corpus}`
}

function runKey({ tenant, corpus, doc, seq }: Run): string {
  return `${tenant}\0${corpus}\0${doc}\0${seq}`
}
