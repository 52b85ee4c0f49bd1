import { addDoc } from './docs'
import { keepWord } from './forward'
import { AT_IS_STOP, count, meetStop, recordOf } from './terms'

/** The document at hand. */
let doc: u32 = 0
let docWords: u32 = 0
let keepsWords = false

/** A token's flags, as they come with {@link addToken}. */
const IS_WORD: u8 = 1
const IS_STOP: u8 = 2

/** Say whether words are kept in order. */
export function startDocs(keeps: bool): void {
  keepsWords = keeps
}

/** Begin with a document. */
export function beginDoc(number: u32): void {
  doc = number
  docWords = 0
}

/** End the document at hand; its length is the number of its words, stop words included. */
export function endDoc(frameOffset: u32, owner: u64): u32 {
  addDoc(doc, frameOffset, docWords, owner)
  return docWords
}

/** Count a word. */
export function addWord(record: usize): void {
  docWords += 1
  if (load<u32>(record, AT_IS_STOP) !== 0) {
    if (!keepsWords) return
    meetStop(record)
  } else {
    count(record, doc)
  }
  if (keepsWords) keepWord(record)
}

/** Count an identifier as a whole. */
export function addCompound(text: usize, bytes: u32): void {
  count(recordOf(text, bytes, false), doc)
}

/** Count a token that was found elsewhere. */
export function addToken(text: usize, bytes: u32, flags: u8): void {
  const record = recordOf(text, bytes, (flags & IS_STOP) !== 0)
  if (flags & IS_WORD) addWord(record)
  else if (!(flags & IS_STOP)) count(record, doc)
}
