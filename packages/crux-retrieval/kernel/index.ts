import { startKinds } from './ascii'
import { startChains } from './chain'
import { limit } from './memory'
import { startReading } from './read'
import { startTerms } from './terms'
import { startDocs } from './terms-of-doc'
import { startWords } from './words'

// The calls and numbers that src/kernel/index-kernel.ts describes.
export { frames } from './docs'
export {
  encodeSome,
  postings,
  postingsEnd,
  startEncoding as finish,
  texts,
  totalPostings,
  vocab,
} from './encode'
export { numberPage, words } from './forward'
export {
  addStopWords,
  addTokens,
  input,
  passedEnd,
  passedStart,
  read,
  resume,
  tokens,
} from './read'
export { firstStop, stops, terms } from './terms'
export { beginDoc, endDoc } from './terms-of-doc'

/** Prepare the instance. */
export function start(seed: u64, keepsWords: bool, mostPages: u32): void {
  limit(mostPages)
  startKinds()
  startTerms(seed, keepsWords)
  startWords()
  startChains()
  startReading()
  startDocs(keepsWords)
}
