/** Most links that are kept of one chunk. */
export const MAX_LINKS = 64
/** Longest target, in UTF-16 code units. */
export const MAX_TARGET_LENGTH = 512

/** Places looked at in one chunk; text may be full of brackets that are no links. */
const MOST_PLACES = 4096
const MOST_LABEL = 256

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:|^\/\//i

/**
 * Targets of the links in a text, in order, each once: of `[text](target)`, `[[target]]` and
 * `[label]: target`. Addresses outside, such as `https:` and `mailto:`, are left out, and so are anchors
 * within the same document.
 */
export function findLinks(text: string): readonly string[] {
  const found = new Map<string, number>()
  let places = 0
  const scan = (mark: string, read: (at: number) => string | undefined): void => {
    let at = text.indexOf(mark)
    for (; at >= 0 && places < MOST_PLACES; at = text.indexOf(mark, at + mark.length)) {
      places++
      const target = normalise(read(at + mark.length))
      if (target !== undefined && !found.has(target)) found.set(target, at)
    }
  }
  scan('](', (at) => readTarget(text, at, ')'))
  scan('[[', (at) => readWiki(text, at))
  scan(']:', (at) => (isDefinition(text, at - 2) ? readTarget(text, at, '\n') : undefined))
  return [...found]
    .sort(([, a], [, b]) => a - b)
    .slice(0, MAX_LINKS)
    .map(([target]) => target)
}

/** `target "title")` or `<target>)`. */
function readTarget(text: string, at: number, end: string): string | undefined {
  const rest = text.slice(at, at + MAX_TARGET_LENGTH + 3).trimStart()
  if (rest.startsWith('<')) {
    const close = rest.indexOf('>')
    return close < 0 ? undefined : rest.slice(1, close)
  }
  let depth = 0
  for (let i = 0; i < rest.length; i++) {
    const character = rest[i]
    if (character === '(') depth++
    const isEnd = character === end && (end !== ')' || depth === 0)
    if (isEnd || character === ' ' || character === '\t' || character === '\n')
      return rest.slice(0, i)
    if (character === ')') depth--
  }
  const isWhole = at + MAX_TARGET_LENGTH + 3 >= text.length
  return end === '\n' && isWhole ? rest : undefined
}

/** `target|shown]]` */
function readWiki(text: string, at: number): string | undefined {
  const rest = text.slice(at, at + MAX_TARGET_LENGTH + 2)
  const close = rest.indexOf(']]')
  const line = rest.indexOf('\n')
  if (close < 0 || (line >= 0 && line < close)) return undefined
  return rest.slice(0, close).split('|')[0]
}

/** Whether the bracket that closes at `at` opened at the start of a line. */
function isDefinition(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - MOST_LABEL), at)
  return /(?:^|\n) {0,3}\[[^\]\n]*$/.test(before)
}

function normalise(raw: string | undefined): string | undefined {
  const target = raw?.replace(/[#?].*$/s, '').trim() ?? ''
  if (target === '' || target.length > MAX_TARGET_LENGTH || HAS_SCHEME.test(target))
    return undefined
  return target
}
