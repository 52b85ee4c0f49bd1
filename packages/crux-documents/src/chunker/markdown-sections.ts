/** A stretch of Markdown under one heading; `text.slice(start, end)` is all of it, heading included. */
export interface MarkdownSection {
  /** UTF-16 offsets into the document. */
  readonly start: number
  readonly end: number
  /** Titles of the headings that enclose the stretch, its own last. */
  readonly headingPath: readonly string[]
}

/** A heading written with `#` signs. */
interface AtxHeading {
  /** 1 to 6. */
  readonly level: number
  readonly title: string
}

const MAX_TITLE_LENGTH = 256

// Any leading white space is allowed: headings inside list items are indented.
const HEADING = /^\s*(#{1,6})\s(.*)$/
const CLOSING_SIGNS = /(?:^|\s)#+\s*$/
const FENCE = /^\s*(`{3,}|~{3,})(.*)$/
// At most 200 lines, the first not blank: a rule (`---`) at the top of a text opens no front matter.
const FRONT_MATTER =
  /^\uFEFF?---[ \t]*\r?\n(?=\S)(?:.*\r?\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const CONTROL = /[\u0000-\u001f\u007f]+/g

/**
 * Cut Markdown at its ATX headings.
 *
 * A section starts at each heading line, unless nothing but white space came before it in the
 * section that is open. `#` lines in fenced code and in YAML front matter are no headings.
 *
 * @returns Sections in order; together they cover the whole text.
 */
export function markdownSections(text: string): readonly MarkdownSection[] {
  const sections: MarkdownSection[] = []
  const open: AtxHeading[] = []
  let start = 0
  let headingPath: readonly string[] = []
  for (const { heading, offset } of headings(text)) {
    if (text.slice(start, offset).trim() !== '') {
      sections.push({ start, end: offset, headingPath })
      start = offset
    }
    while ((open.at(-1)?.level ?? 0) >= heading.level) open.pop()
    open.push(heading)
    headingPath = open.map(({ title }) => title).filter((title) => title !== '')
  }
  if (text.length > start) sections.push({ start, end: text.length, headingPath })
  return sections
}

/**
 * Title of a Markdown text: its first ATX heading, when no other one is as high.
 *
 * @returns undefined when there is no heading, or the first is one section of several.
 */
export function titleOf(markdown: string): string | undefined {
  let first: AtxHeading | undefined
  for (const { heading } of headings(markdown)) {
    if (first !== undefined && heading.level <= first.level) return undefined
    first ??= heading
  }
  return first?.title === '' ? undefined : first?.title
}

function* headings(text: string): Generator<{ heading: AtxHeading; offset: number }> {
  let fence: string | undefined
  let offset = skipFrontMatter(text)
  while (offset < text.length) {
    const lineBreak = text.indexOf('\n', offset)
    const next = lineBreak < 0 ? text.length : lineBreak + 1
    const line = lineAt(text, offset, lineBreak < 0 ? text.length : lineBreak)
    const marks = FENCE.exec(line)
    if (fence !== undefined) {
      if (marks !== null && closes(marks, fence)) fence = undefined
    } else if (marks !== null && opens(marks)) {
      fence = marks[1]
    } else {
      const match = HEADING.exec(line)
      if (match !== null) {
        yield {
          heading: { level: match[1]?.length ?? 1, title: cleanTitle(match[2] ?? '') },
          offset,
        }
      }
    }
    offset = next
  }
}

function lineAt(text: string, start: number, end: number): string {
  return text.slice(start, text[end - 1] === '\r' ? Math.max(start, end - 1) : end)
}

/** Offset after a leading `---` block, or 0: comments in it start with `#` too. */
function skipFrontMatter(text: string): number {
  return FRONT_MATTER.exec(text)?.[0].length ?? 0
}

/** What follows backticks may hold none, else it is inline code. */
function opens(marks: RegExpExecArray): boolean {
  return marks[1]?.startsWith('~') === true || marks[2]?.includes('`') === false
}

function closes(marks: RegExpExecArray, fence: string): boolean {
  return marks[1]?.startsWith(fence) === true && marks[2]?.trim() === ''
}

function cleanTitle(raw: string): string {
  const title = raw.replace(CLOSING_SIGNS, '').replace(CONTROL, ' ').trim()
  if (title.length <= MAX_TITLE_LENGTH) return title
  const cut = title.slice(0, MAX_TITLE_LENGTH)
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}
