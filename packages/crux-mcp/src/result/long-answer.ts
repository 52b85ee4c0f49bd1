import { dispatchTokens } from 'crux-types'

/** Tokens beyond which an answer is called long. */
const LONG_ANSWER_TOKENS = 10_000
const BYTES_A_TOKEN = 4
// UTF-8 takes three bytes a UTF-16 unit at most.
const SURELY_SHORT = Math.floor((LONG_ANSWER_TOKENS * BYTES_A_TOKEN) / 3)

/**
 * What to say of an answer that takes much of its reader's context; undefined when it does not.
 *
 * @param text - The answer as it goes on the wire.
 * @param boundedBy - Argument that bounds it; null when none does.
 */
export function longAnswerWarning(text: string, boundedBy: string | null): string | undefined {
  if (text.length <= SURELY_SHORT) return undefined
  const tokens = dispatchTokens(text)
  if (tokens <= LONG_ANSWER_TOKENS) return undefined
  return boundedBy === null
    ? `this answer takes about ${tokens} tokens, and no argument of the tool bounds it`
    : `this answer takes about ${tokens} tokens; a lower ${boundedBy} bounds it`
}
