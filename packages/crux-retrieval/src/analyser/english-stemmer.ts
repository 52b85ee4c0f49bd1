/**
 * The stem of an English word by the Snowball project's English stemmer (Porter2), in the form of its
 * version 3.
 *
 * @param word - Of a-z and apostrophes only.
 * @see https://snowballstem.org/algorithms/english/stemmer.html
 */
export function stemEnglish(word: string): string {
  const special = SPECIAL.get(word)
  if (special !== undefined) return special
  if (word.length < 3) return word
  let stem = markConsonantY(word.charCodeAt(0) === APOSTROPHE ? word.slice(1) : word)
  const r1 = startOfR1(stem)
  const r2 = regionAfter(stem, r1)
  stem = dropPlural(dropPossessive(stem))
  stem = dropPast(stem, r1)
  stem = replaceFinalY(stem)
  stem = shortenLongEnding(stem, r1)
  stem = shortenEnding(stem, r1, r2)
  stem = dropEnding(stem, r2)
  stem = dropFinalLetter(stem, r1, r2)
  return stem.replaceAll('Y', 'y')
}

const APOSTROPHE = 0x27
const SMALL_Y = 0x79
const BIG_Y = 0x59

/** Words that are their own rule; those that stay as they are included. */
const SPECIAL: ReadonlyMap<string, string> = new Map([
  ['skis', 'ski'],
  ['skies', 'sky'],
  ['idly', 'idl'],
  ['gently', 'gentl'],
  ['ugly', 'ugli'],
  ['early', 'earli'],
  ['only', 'onli'],
  ['singly', 'singl'],
  ...['sky', 'news', 'howe', 'atlas', 'cosmos', 'bias', 'andes'].map(
    (word) => [word, word] as const,
  ),
])

/** Beginnings after which the first region starts, where the rule would start it too early. */
const BEGINNINGS = [
  'gener',
  'commun',
  'arsen',
  'past',
  'univers',
  'later',
  'emerg',
  'organ',
  'inter',
]

/** a, e, i, o, u, y. A `y` that stands for a consonant is written `Y`. */
function isVowel(code: number): boolean {
  switch (code) {
    case 0x61:
    case 0x65:
    case 0x69:
    case 0x6f:
    case 0x75:
    case SMALL_Y:
      return true
    default:
      return false
  }
}

/** Write `Y` for a `y` at the start or after a vowel. */
function markConsonantY(word: string): string {
  let marked = word
  for (let at = marked.indexOf('y'); at >= 0; at = marked.indexOf('y', at + 1)) {
    if (at > 0 && !isVowel(marked.charCodeAt(at - 1))) continue
    marked = `${marked.slice(0, at)}Y${marked.slice(at + 1)}`
  }
  return marked
}

function startOfR1(word: string): number {
  for (const beginning of BEGINNINGS) if (word.startsWith(beginning)) return beginning.length
  return regionAfter(word, 0)
}

/** What comes after the first consonant that follows a vowel, from `from` on; else the end. */
function regionAfter(word: string, from: number): number {
  let at = from
  while (at < word.length && !isVowel(word.charCodeAt(at))) at += 1
  while (at < word.length && isVowel(word.charCodeAt(at))) at += 1
  return Math.min(at + 1, word.length)
}

function hasVowel(word: string, end: number): boolean {
  for (let at = 0; at < end; at++) if (isVowel(word.charCodeAt(at))) return true
  return false
}

/** Whether a word ends in a short syllable. */
function endsShort(word: string): boolean {
  const { length } = word
  if (word.endsWith('past')) return true
  if (length < 2 || !isVowel(word.charCodeAt(length - 2))) return false
  const last = word.charCodeAt(length - 1)
  if (isVowel(last)) return false
  if (length === 2) return true
  const isWxY = last === 0x77 || last === 0x78 || last === BIG_Y
  return !isWxY && !isVowel(word.charCodeAt(length - 3))
}

function dropPossessive(word: string): string {
  if (word.endsWith("'s'")) return word.slice(0, -3)
  if (word.endsWith("'s")) return word.slice(0, -2)
  return word.endsWith("'") ? word.slice(0, -1) : word
}

function dropPlural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2)
  if (word.endsWith('ied') || word.endsWith('ies')) return word.slice(0, word.length > 4 ? -2 : -1)
  if (!word.endsWith('s') || word.endsWith('us') || word.endsWith('ss')) return word
  return hasVowel(word, word.length - 2) ? word.slice(0, -1) : word
}

/** Words that look like a form with -ing and are none, without the ending. */
const NO_FORMS = new Set(['inn', 'out', 'cann', 'herr', 'earr', 'even'])
const NO_EED = new Set(['proc', 'exc', 'succ'])

function dropPast(word: string, r1: number): string {
  const eed = word.endsWith('eedly') ? 5 : word.endsWith('eed') ? 3 : 0
  if (eed > 0) {
    const base = word.slice(0, -eed)
    return base.length < r1 || NO_EED.has(base) ? word : `${base}ee`
  }
  let base: string
  if (word.endsWith('ing')) {
    base = word.slice(0, -3)
    // dying, lying, tying
    if (base.length === 2 && base.charCodeAt(1) === SMALL_Y && !isVowel(base.charCodeAt(0))) {
      return `${base.slice(0, 1)}ie`
    }
    if (NO_FORMS.has(base)) return word
  } else if (word.endsWith('ingly')) base = word.slice(0, -5)
  else if (word.endsWith('edly')) base = word.slice(0, -4)
  else if (word.endsWith('ed')) base = word.slice(0, -2)
  else return word
  return hasVowel(base, base.length) ? restoreBase(base, r1) : word
}

/** Give a word that lost -ed or -ing its `e` back, or take its doubled consonant away. */
function restoreBase(base: string, r1: number): string {
  if (base.endsWith('at') || base.endsWith('bl') || base.endsWith('iz')) return `${base}e`
  const { length } = base
  const last = base.charCodeAt(length - 1)
  if (length > 1 && last === base.charCodeAt(length - 2) && 'bdfgmnprt'.includes(base.slice(-1))) {
    // add, egg, off keep both.
    return length === 3 && 'aeo'.includes(base.slice(0, 1)) ? base : base.slice(0, -1)
  }
  return length === r1 && endsShort(base) ? `${base}e` : base
}

function replaceFinalY(word: string): string {
  const { length } = word
  const last = word.charCodeAt(length - 1)
  if (length < 3 || (last !== SMALL_Y && last !== BIG_Y)) return word
  return isVowel(word.charCodeAt(length - 2)) ? word : `${word.slice(0, -1)}i`
}

type Ending = readonly [ending: string, becomes: string]

/** By ending, longest first; only the longest that fits is looked at. */
const LONG_ENDINGS: readonly Ending[] = longestFirst([
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['abli', 'able'],
  ['entli', 'ent'],
  ['izer', 'ize'],
  ['ization', 'ize'],
  ['ational', 'ate'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['alli', 'al'],
  ['fulness', 'ful'],
  ['ousli', 'ous'],
  ['ousness', 'ous'],
  ['iveness', 'ive'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['bli', 'ble'],
  ['ogist', 'og'],
  ['ogi', 'og'],
  ['fulli', 'ful'],
  ['lessli', 'less'],
  ['li', ''],
])

function shortenLongEnding(word: string, r1: number): string {
  const found = LONG_ENDINGS.find(([ending]) => word.endsWith(ending))
  if (found === undefined) return word
  const [ending, becomes] = found
  const start = word.length - ending.length
  if (start < r1) return word
  const before = word.charAt(start - 1)
  if (ending === 'ogi' && before !== 'l') return word
  if (ending === 'li' && !(before !== '' && 'cdeghkmnrt'.includes(before))) return word
  return word.slice(0, start) + becomes
}

const ENDINGS: readonly Ending[] = longestFirst([
  ['tional', 'tion'],
  ['ational', 'ate'],
  ['alize', 'al'],
  ['icate', 'ic'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
  ['ative', ''],
])

function shortenEnding(word: string, r1: number, r2: number): string {
  const found = ENDINGS.find(([ending]) => word.endsWith(ending))
  if (found === undefined) return word
  const [ending, becomes] = found
  const start = word.length - ending.length
  if (start < (ending === 'ative' ? r2 : r1)) return word
  return word.slice(0, start) + becomes
}

const LAST_ENDINGS = longestFirst(
  'al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion'
    .split(' ')
    .map((ending) => [ending, ''] as const),
)

function dropEnding(word: string, r2: number): string {
  const found = LAST_ENDINGS.find(([ending]) => word.endsWith(ending))
  if (found === undefined) return word
  const [ending] = found
  const start = word.length - ending.length
  if (start < r2) return word
  if (ending === 'ion' && !'st'.includes(word.charAt(start - 1) || ' ')) return word
  return word.slice(0, start)
}

function dropFinalLetter(word: string, r1: number, r2: number): string {
  const start = word.length - 1
  if (word.endsWith('e')) {
    const base = word.slice(0, start)
    return start >= r2 || (start >= r1 && !endsShort(base)) ? base : word
  }
  return word.endsWith('ll') && start >= r2 ? word.slice(0, start) : word
}

function longestFirst(endings: readonly Ending[]): readonly Ending[] {
  return [...endings].sort(([one], [other]) => other.length - one.length)
}
