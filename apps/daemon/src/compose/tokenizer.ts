import { loadTokenCounter, type TokenVocabulary } from 'crux-retrieval'
import { CHARS4, messageOf, type TokenCounter } from 'crux-types'
import type { Config } from '../config/load.js'
import type { Log } from '../log.js'

/** What counts tokens. */
export interface TokenizerStatus {
  /** `chars4` or the vocabulary that counts. */
  readonly id: string
  /** What was asked for. */
  readonly wanted: string
  /** Why another one counts than was asked for; null when that is not so. */
  readonly reason: string | null
}

/** The tokenizer of one daemon. */
export interface Tokenizer {
  readonly counter: TokenCounter
  readonly status: TokenizerStatus
  /** What somebody should mend, for `/readyz`. */
  readonly warnings: readonly string[]
}

/**
 * Load what the configuration asks to count tokens with; when that fails, four bytes are a token, as
 * without one.
 *
 * @param load - Loads a vocabulary; by default that of crux-retrieval.
 */
export async function chooseTokenizer(
  { tokenizer: wanted }: Pick<Config, 'tokenizer'>,
  log: Pick<Log, 'warn'>,
  load: (vocabulary: TokenVocabulary) => Promise<TokenCounter> = loadTokenCounter,
): Promise<Tokenizer> {
  if (wanted === 'chars4') return { counter: CHARS4, status: statusOf(wanted, null), warnings: [] }
  try {
    return { counter: await load(wanted), status: statusOf(wanted, null), warnings: [] }
  } catch (error) {
    const reason = messageOf(error)
    const warning = `${reason}; until then four bytes count as a token`
    log.warn(warning)
    const status = { id: CHARS4.id, wanted, reason }
    return { counter: CHARS4, status, warnings: [warning] }
  }
}

function statusOf(wanted: string, reason: null): TokenizerStatus {
  return { id: wanted, wanted, reason }
}
