// The English stemmer of src/analyser/english-stemmer.ts, step by step under the same names, on
// bytes in place. A test holds the two equal.

const APOSTROPHE: u8 = 0x27
const BIG_Y: u8 = 0x59
const A: u8 = 0x61
const D: u8 = 0x64
const E: u8 = 0x65
const G: u8 = 0x67
const I: u8 = 0x69
const L: u8 = 0x6c
const M: u8 = 0x6d
const N: u8 = 0x6e
const O: u8 = 0x6f
const R: u8 = 0x72
const S: u8 = 0x73
const T: u8 = 0x74
const U: u8 = 0x75
const W: u8 = 0x77
const X: u8 = 0x78
const Y: u8 = 0x79

/** The word at hand: its first byte, and its length so far. */
let word: usize = 0
let length: i32 = 0
/** Where its two regions start, in bytes. */
let r1: i32 = 0
let r2: i32 = 0

/**
 * Stem a word of a-z and apostrophes in place.
 *
 * @returns Length of the stem.
 */
export function stem(at: usize, bytes: u32): u32 {
  word = at
  length = <i32>bytes
  if (isSpecial()) return <u32>length
  if (length < 3) return bytes
  if (load<u8>(word) === APOSTROPHE) {
    length -= 1
    memory.copy(word, word + 1, <usize>length)
  }
  const hasMark = markConsonantY()
  r1 = startOfR1()
  r2 = regionAfter(r1)
  dropPossessive()
  dropPlural()
  dropPast()
  replaceFinalY()
  shortenLongEnding()
  shortenEnding()
  dropEnding()
  dropFinalLetter()
  if (hasMark) {
    for (let i = 0; i < length; i++) if (letter(i) === BIG_Y) put(i, Y)
  }
  return <u32>length
}

/** Words that are their own rule. */
function isSpecial(): bool {
  switch (length) {
    case 3:
      return is('sky')
    case 4:
      if (is('skis')) return cutTo(3)
      if (is('idly')) return cutTo(3)
      if (is('ugly')) return become('ugli')
      if (is('only')) return become('onli')
      return is('news') || is('howe') || is('bias')
    case 5:
      if (is('skies')) return become('sky')
      if (is('early')) return become('earli')
      return is('atlas') || is('andes')
    case 6:
      if (is('gently')) return cutTo(5)
      if (is('singly')) return cutTo(5)
      return is('cosmos')
    default:
      return false
  }
}

function isVowel(code: u8): bool {
  return code === A || code === E || code === I || code === O || code === U || code === Y
}

/** Write `Y` for a `y` at the start or after a vowel. @returns Whether one was written. */
function markConsonantY(): bool {
  let hasMark = false
  let afterVowel = true
  for (let i = 0; i < length; i++) {
    const code = letter(i)
    if (code === Y && afterVowel) {
      put(i, BIG_Y)
      hasMark = true
      afterVowel = false
    } else {
      afterVowel = isVowel(code)
    }
  }
  return hasMark
}

/** The end of a beginning after which the first region starts later than the rule says. */
function startOfR1(): i32 {
  switch (letter(0)) {
    case A:
      if (begins('arsen')) return 5
      break
    case E:
      if (begins('emerg')) return 5
      break
    case G:
      if (begins('gener')) return 5
      break
    case I:
      if (begins('inter')) return 5
      break
    case L:
      if (begins('later')) return 5
      break
    case O:
      if (begins('organ')) return 5
      break
    case 0x63:
      if (begins('commun')) return 6
      break
    case 0x70:
      if (begins('past')) return 4
      break
    case U:
      if (begins('univers')) return 7
      break
  }
  return regionAfter(0)
}

/** What comes after the first consonant that follows a vowel, from `from` on; else the end. */
function regionAfter(from: i32): i32 {
  let at = from
  while (at < length && !isVowel(letter(at))) at += 1
  while (at < length && isVowel(letter(at))) at += 1
  return min(at + 1, length)
}

function hasVowel(end: i32): bool {
  for (let i = 0; i < end; i++) if (isVowel(letter(i))) return true
  return false
}

/** Whether the first `end` letters end in a short syllable. */
function endsShort(end: i32): bool {
  if (end >= 4 && isAt(end - 4, 'past')) return true
  if (end < 2 || !isVowel(letter(end - 2))) return false
  const last = letter(end - 1)
  if (isVowel(last)) return false
  if (end === 2) return true
  return last !== W && last !== X && last !== BIG_Y && !isVowel(letter(end - 3))
}

function dropPossessive(): void {
  if (ends("'s'")) length -= 3
  else if (ends("'s")) length -= 2
  else if (ends("'")) length -= 1
}

function dropPlural(): void {
  if (ends('sses')) length -= 2
  else if (ends('ied') || ends('ies')) length -= length > 4 ? 2 : 1
  else if (ends('s') && !ends('us') && !ends('ss') && hasVowel(length - 2)) length -= 1
}

function dropPast(): void {
  const eed = ends('eedly') ? 5 : ends('eed') ? 3 : 0
  if (eed > 0) {
    const base = length - eed
    if (base < r1 || (base === 4 && (isAt(0, 'proc') || isAt(0, 'succ')))) return
    if (base === 3 && isAt(0, 'exc')) return
    length = base + 2
    return
  }
  let base: i32
  if (ends('ing')) {
    base = length - 3
    if (base === 2 && letter(1) === Y && !isVowel(letter(0))) {
      put(1, I)
      put(2, E)
      length = 3
      return
    }
    if (base === 3 && (isAt(0, 'inn') || isAt(0, 'out'))) return
    if (base === 4 && (isAt(0, 'cann') || isAt(0, 'herr') || isAt(0, 'earr') || isAt(0, 'even'))) {
      return
    }
  } else if (ends('ingly')) base = length - 5
  else if (ends('edly')) base = length - 4
  else if (ends('ed')) base = length - 2
  else return
  if (!hasVowel(base)) return
  length = base
  restoreBase()
}

/** Give a word that lost -ed or -ing its `e` back, or take its doubled consonant away. */
function restoreBase(): void {
  if (ends('at') || ends('bl') || ends('iz')) {
    put(length, E)
    length += 1
    return
  }
  const last = length > 0 ? letter(length - 1) : 0
  if (length > 1 && last === letter(length - 2) && isDoubled(last)) {
    const first = letter(0)
    if (length !== 3 || !(first === A || first === E || first === O)) length -= 1
    return
  }
  if (length === r1 && endsShort(length)) {
    put(length, E)
    length += 1
  }
}

function isDoubled(code: u8): bool {
  switch (code) {
    case 0x62:
    case D:
    case 0x66:
    case G:
    case M:
    case N:
    case 0x70:
    case R:
    case T:
      return true
    default:
      return false
  }
}

function replaceFinalY(): void {
  if (length < 3) return
  const last = letter(length - 1)
  if ((last === Y || last === BIG_Y) && !isVowel(letter(length - 2))) put(length - 1, I)
}

// In the steps below only the longest ending that fits is looked at; the last letter tells them
// apart first. Each says whether it replaced one.

function shortenLongEnding(): bool {
  if (length < 2) return false
  switch (letter(length - 1)) {
    case L:
      if (ends('ational')) return replace(7, r1, 'ate')
      if (ends('tional')) return replace(6, r1, 'tion')
      return false
    case N:
      if (ends('ization')) return replace(7, r1, 'ize')
      if (ends('ation')) return replace(5, r1, 'ate')
      return false
    case R:
      if (ends('izer')) return replace(4, r1, 'ize')
      if (ends('ator')) return replace(4, r1, 'ate')
      return false
    case M:
      if (ends('alism')) return replace(5, r1, 'al')
      return false
    case S:
      if (ends('fulness')) return replace(7, r1, 'ful')
      if (ends('ousness')) return replace(7, r1, 'ous')
      if (ends('iveness')) return replace(7, r1, 'ive')
      return false
    case T:
      if (ends('ogist')) return replace(5, r1, 'og')
      return false
    case I:
      return shortenEndingInI()
    default:
      return false
  }
}

function shortenEndingInI(): bool {
  if (ends('biliti')) return replace(6, r1, 'ble')
  if (ends('lessli')) return replace(6, r1, 'less')
  if (ends('entli')) return replace(5, r1, 'ent')
  if (ends('aliti')) return replace(5, r1, 'al')
  if (ends('ousli')) return replace(5, r1, 'ous')
  if (ends('iviti')) return replace(5, r1, 'ive')
  if (ends('fulli')) return replace(5, r1, 'ful')
  if (ends('enci')) return replace(4, r1, 'ence')
  if (ends('anci')) return replace(4, r1, 'ance')
  if (ends('abli')) return replace(4, r1, 'able')
  if (ends('alli')) return replace(4, r1, 'al')
  if (ends('bli')) return replace(3, r1, 'ble')
  if (ends('ogi')) {
    if (length > 3 && letter(length - 4) === L) replace(3, r1, 'og')
    return false
  }
  return ends('li') && length > 2 && isBeforeLi(letter(length - 3)) && replace(2, r1, '')
}

function isBeforeLi(code: u8): bool {
  switch (code) {
    case 0x63:
    case D:
    case E:
    case G:
    case 0x68:
    case 0x6b:
    case M:
    case N:
    case R:
    case T:
      return true
    default:
      return false
  }
}

function shortenEnding(): bool {
  if (length < 3) return false
  switch (letter(length - 1)) {
    case L:
      if (ends('ational')) return replace(7, r1, 'ate')
      if (ends('tional')) return replace(6, r1, 'tion')
      if (ends('ical')) return replace(4, r1, 'ic')
      if (ends('ful')) return replace(3, r1, '')
      return false
    case E:
      if (ends('alize')) return replace(5, r1, 'al')
      if (ends('icate')) return replace(5, r1, 'ic')
      if (ends('ative')) return replace(5, r2, '')
      return false
    case I:
      if (ends('iciti')) return replace(5, r1, 'ic')
      return false
    case S:
      if (ends('ness')) return replace(4, r1, '')
      return false
    default:
      return false
  }
}

function dropEnding(): void {
  const ending = lastEnding()
  const start = length - ending
  if (ending === 0 || start < r2) return
  if (letter(length - 1) === N) {
    // -ion
    if (start === 0) return
    const before = letter(start - 1)
    if (before !== S && before !== T) return
  }
  length = start
}

function lastEnding(): i32 {
  if (length < 2) return 0
  switch (letter(length - 1)) {
    case L:
      return ends('al') ? 2 : 0
    case E:
      if (ends('ance') || ends('ence') || ends('able') || ends('ible')) return 4
      return ends('ate') || ends('ive') || ends('ize') ? 3 : 0
    case R:
      return ends('er') ? 2 : 0
    case 0x63:
      return ends('ic') ? 2 : 0
    case T:
      if (ends('ement')) return 5
      if (ends('ment')) return 4
      return ends('ent') || ends('ant') ? 3 : 0
    case M:
      return ends('ism') ? 3 : 0
    case I:
      return ends('iti') ? 3 : 0
    case S:
      return ends('ous') ? 3 : 0
    case N:
      return ends('ion') ? 3 : 0
    default:
      return 0
  }
}

function dropFinalLetter(): void {
  const start = length - 1
  if (ends('e')) {
    if (start >= r2 || (start >= r1 && !endsShort(start))) length = start
  } else if (ends('ll') && start >= r2) length = start
}

function letter(at: i32): u8 {
  return load<u8>(word + <usize>at)
}

function put(at: i32, code: u8): void {
  store<u8>(word + <usize>at, code)
}

function is(text: string): bool {
  return isAt(0, text)
}

function begins(text: string): bool {
  return length >= text.length && isAt(0, text)
}

function ends(text: string): bool {
  const start = length - text.length
  return start >= 0 && isAt(start, text)
}

/** Whether `text` stands at a place; the last letter is compared first. */
function isAt(at: i32, text: string): bool {
  for (let i = text.length - 1; i >= 0; i--) {
    if (<u16>letter(at + i) !== load<u16>(changetype<usize>(text) + ((<usize>i) << 1))) return false
  }
  return true
}

function become(text: string): bool {
  length = text.length
  for (let i = 0; i < length; i++)
    put(i, <u8>load<u16>(changetype<usize>(text) + ((<usize>i) << 1)))
  return true
}

function cutTo(letters: i32): bool {
  length = letters
  return true
}

/** Put other letters for the last `bytes`, if these lie in a region. @returns Whether they do. */
function replace(bytes: i32, region: i32, text: string): bool {
  const start = length - bytes
  if (start < region) return false
  for (let i = 0; i < text.length; i++) {
    put(start + i, <u8>load<u16>(changetype<usize>(text) + ((<usize>i) << 1)))
  }
  length = start + text.length
  return true
}
