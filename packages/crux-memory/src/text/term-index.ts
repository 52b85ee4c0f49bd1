import type { Pause } from 'crux-types'
import { ByteDictionary } from '../columns/byte-dictionary.js'
import { PostingLists } from './posting-lists.js'
import { termsOf } from './terms-of.js'
import type { TokenIndex } from './token-index.js'

/**
 * Finds the tokens of a vocabulary that hold a stemmed term: `deployed,` and `(deploying)` for `deploy`.
 *
 * The analyser works within white space, so looking at each distinct token once tells the same as
 * looking at all texts. Filled when it is asked, since only ranked recall needs it.
 */
export class TermIndex {
  private readonly terms = new ByteDictionary()
  private readonly tokensOf = new PostingLists()
  private done = 0
  private working: Promise<void> | undefined

  constructor(private readonly tokens: TokenIndex) {}

  /** Take in the tokens that came since the last call. */
  async catchUp(pause: Pause): Promise<void> {
    while (this.done < this.tokens.size) {
      // One at a time; those who wait share the work.
      this.working ??= this.takeTokens(pause).finally(() => {
        this.working = undefined
      })
      await this.working
    }
  }

  /** Call `mark` with each row that holds a term, possibly more than once. */
  async match(term: string, mark: (row: number) => void, pause: Pause): Promise<void> {
    const found = this.terms.findText(term)
    if (found === -1) return
    const tokens = this.tokensOf.cursor()
    tokens.reset(found)
    for (let token = tokens.next(); token !== -1; token = tokens.next()) {
      await this.tokens.markRows(token, mark, pause)
      const waiting = pause()
      if (waiting !== undefined) await waiting
    }
  }

  private async takeTokens(pause: Pause): Promise<void> {
    const end = this.tokens.size
    for (; this.done < end; this.done++) {
      for (const term of termsOf(this.tokens.text(this.done))) {
        const known = this.terms.size
        const number = this.terms.addText(term)
        if (number < known) this.tokensOf.append(number, this.done)
        else this.tokensOf.add(this.done)
      }
      const waiting = pause()
      if (waiting !== undefined) await waiting
    }
  }
}
