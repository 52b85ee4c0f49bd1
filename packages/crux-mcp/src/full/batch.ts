import { setImmediate as nextTurn } from 'node:timers/promises'
import { INTERNAL_ERROR } from '../protocol/codes.js'
import { errorResponse } from '../protocol/json-rpc.js'

/** The one revision in which batches are taken; the next one has none any more. */
export const BATCH_VERSION = '2025-03-26'
/** Messages of one batch. */
export const MAX_BATCH = 32
/** Characters of the answers of one batch, from which on the rest is refused. */
const MAX_ANSWERS_CHARS = 16 * 1024 * 1024

/**
 * Answer the messages of a batch one after the other, so that what is held meanwhile is bounded and
 * later messages see what earlier ones wrote.
 *
 * @param answer - The answer to one message; undefined when it has none.
 * @returns JSON text of an array; undefined when there is no answer in it.
 */
export async function answerBatch(
  messages: readonly unknown[],
  answer: (message: unknown) => Promise<string | undefined>,
): Promise<string | undefined> {
  const answers: string[] = []
  let chars = 0
  for (const message of messages) {
    // Each takes a moment of the event loop; others have theirs in between.
    await nextTurn()
    const text = chars < MAX_ANSWERS_CHARS ? await answer(message) : tooMuch(message)
    if (text === undefined) continue
    chars += text.length
    answers.push(text)
  }
  return answers.length === 0 ? undefined : `[${answers.join(',')}]`
}

function tooMuch(message: unknown): string | undefined {
  const { id } = message as { id?: unknown }
  const why = `the answers of this batch come to more than ${MAX_ANSWERS_CHARS} characters; ask for the rest by itself`
  return id === undefined ? undefined : errorResponse(id, INTERNAL_ERROR, why)
}
