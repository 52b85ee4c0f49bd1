import { reserve } from './memory'
import { AT_DOC, AT_IS_STOP, AT_TIMES, terms } from './terms'

// The words of all documents in order, as addresses of records, in pages: address of the next
// page, then the words.
const PAGE_WORDS: u32 = 4096
const PAGE_HEAD: usize = 8

/** Words kept. */
export let words: u32 = 0
/** First page of words. */
export let firstPage: usize = 0
let page: usize = 0
let numbered: u32 = 0

/** Keep the next word of the document at hand. */
export function keepWord(record: usize): void {
  const place = words % PAGE_WORDS
  if (place === 0) {
    const next = reserve(PAGE_HEAD + ((<usize>PAGE_WORDS) << 2))
    if (page === 0) firstPage = next
    else store<u32>(page, <u32>next)
    page = next
  }
  store<u32>(page + PAGE_HEAD + ((<usize>place) << 2), <u32>record)
  words += 1
}

/**
 * Put numbers for the records of the next page: the rank of a term; the terms' number and more
 * for a stop word.
 *
 * @returns The words of that page, or 0 when there is none.
 */
export function numberPage(): usize {
  if (numbered === words) return 0
  page = numbered === 0 ? firstPage : <usize>load<u32>(page)
  const start = page + PAGE_HEAD
  const end = start + ((<usize>min(words - numbered, PAGE_WORDS)) << 2)
  for (let at = start; at < end; at += 4) {
    const record = <usize>load<u32>(at)
    const isStop = load<u32>(record, AT_IS_STOP) !== 0
    store<u32>(at, isStop ? terms + load<u32>(record, AT_TIMES) : load<u32>(record, AT_DOC))
    numbered += 1
  }
  return start
}
