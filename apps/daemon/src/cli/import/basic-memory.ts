import { basename } from 'node:path'
import { isObject, messageOf } from 'crux-types'
import { parse } from 'yaml'
import { MAX_FILE_BYTES } from '../read-document.js'
import { itemOf, type SourceFile, type SourceItem, shortDigest, toRfc3339 } from './source-item.js'

const FORMAT = 'basic-memory'
const DEFAULT_CATEGORY = 'note'

// As Basic Memory 0.18.1 reads its notes.
const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/
const LIST_ITEM = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/
const OBSERVATION = /^\[([^[\]()]+)\]\s+(.+)$/
const RELATION = /^(?:"([^"]+)"|'([^']+)'|([^\s[]+))\s*\[\[([^[\]]+)\]\](?:\s*\(([^()]*)\))?$/
const WIKI_LINK = /\[\[([^[\]]+)\]\]/g
const CLOCK =
  /^\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?:\s+-\s+\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?)?$/

/**
 * One note: its front matter, the observations of its lists (`- [category] text #tag`) and its
 * relations (`- type [[Note]]`, and links in the text).
 *
 * What else stands in a note is text and no fact; the last item says so.
 */
export async function* readBasicMemory(file: SourceFile): AsyncGenerator<SourceItem> {
  const text = await readText(file)
  if (typeof text !== 'string') {
    yield { where: file.name, reason: text.reason }
    return
  }
  const matter = FRONT_MATTER.exec(text)
  let front: Record<string, unknown> = {}
  if (matter !== null) {
    try {
      const value: unknown = parse(matter[1] ?? '') ?? {}
      if (!isObject(value)) throw new Error('it has no members')
      front = value
    } catch (error) {
      const [why] = messageOf(error).split('\n')
      yield { where: file.name, reason: `its front matter cannot be read (${why})` }
      return
    }
  }
  const path = file.name.replace(/\.(?:md|markdown)$/i, '')
  const entity = textOf(front.permalink) ?? path
  const title = textOf(front.title) ?? basename(path)
  const observedAt = toRfc3339(textOf(front.modified)) ?? toRfc3339(textOf(front.created))
  const fact = (line: number, key: string, value: string): SourceItem =>
    itemOf(FORMAT, `${file.name}:${line}`, { entity, key, value, observedAt })

  yield fact(1, 'title', title)
  for (const [name, value] of Object.entries(front)) {
    if (['title', 'permalink', 'created', 'modified'].includes(name)) continue
    const given = Array.isArray(value) ? value.map(textOf).join(', ') : textOf(value)
    if (given !== undefined && given !== '') yield fact(1, name, given)
  }
  const head = matter?.[0] ?? ''
  let number = head.split('\n').length - 1
  let prose = 0
  for (const { line, isCode } of bodyLines(text.slice(head.length))) {
    number += 1
    const found = isCode ? [] : factsOf(line, title)
    for (const { key, value } of found) yield fact(number, key, value)
    if (found.length === 0 && line.trim() !== '' && !line.startsWith('#')) prose += 1
  }
  if (prose > 0) {
    yield {
      where: file.name,
      note: `${prose} lines are neither observations nor relations; corecruxctl ingest puts the whole note in as a document`,
    }
  }
}

function* bodyLines(body: string): Generator<{ line: string; isCode: boolean }> {
  let fence: string | undefined
  for (const line of body.split(/\r?\n/)) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    const isQuote = /^\s*>/.test(line)
    yield { line, isCode: fence !== undefined || mark !== undefined || isQuote }
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence) === true) fence = undefined
  }
}

function factsOf(line: string, title: string): { key: string; value: string }[] {
  const content = LIST_ITEM.exec(line)?.[1]?.trim()
  if (content !== undefined) {
    const relation = RELATION.exec(content)
    if (relation !== null) {
      const [, doubled, single, bare, target = '', context] = relation
      const type = doubled ?? single ?? bare ?? ''
      return [relationOf(title, type, target.trim(), context?.trim())]
    }
  }
  const observation = content === undefined ? undefined : observationOf(content)
  const links = [...line.matchAll(WIKI_LINK)].map(([, target = '']) =>
    relationOf(title, 'links_to', target.trim(), undefined),
  )
  return observation === undefined ? links : [observation, ...links]
}

function relationOf(
  title: string,
  type: string,
  target: string,
  context: string | undefined,
): { key: string; value: string } {
  const remark = context ? ` (${context})` : ''
  return { key: `${type} ${target}`, value: `${title} ${type} ${target}${remark}` }
}

function observationOf(content: string): { key: string; value: string } | undefined {
  const [, bracketed, rest] = OBSERVATION.exec(content) ?? []
  const category = bracketed?.trim()
  if (category !== undefined && rest !== undefined) {
    if (CLOCK.test(category) || isTaskMark(category)) return undefined
    return { key: `${category}:${shortDigest(rest)}`, value: rest }
  }
  if (content.startsWith('[') || !/(?:^|\s)#\S/.test(content)) return undefined
  return { key: `${DEFAULT_CATEGORY}:${shortDigest(content)}`, value: content }
}

/** Boxes of task lists: `[ ]`, `[x]`, `[-]`, `[/]` and the like. */
function isTaskMark(category: string): boolean {
  return category.length <= 1 && (/^[xX]?$/.test(category) || !/[\p{L}\p{N}]/u.test(category))
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

async function readText(file: SourceFile): Promise<string | { reason: string }> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of file.read()) {
    size += chunk.length
    if (size > MAX_FILE_BYTES) return { reason: `it has more than ${MAX_FILE_BYTES} bytes` }
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    return { reason: 'it is not UTF-8 text; convert it first' }
  }
}
