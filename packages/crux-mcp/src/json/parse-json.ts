import { CruxError, messageOf } from 'crux-types'
import type { McpErrorCode } from '../errors.js'
import { inspectJson, MAX_JSON_DEPTH } from './inspect-json.js'
import { parseInWorker } from './parse-worker.js'

/** From this size on, a body is parsed off the main thread: 1 MiB parses in under 10 ms. */
export const WORKER_PARSE_BYTES = 1024 * 1024

/** A parsed body, and whether its strings can be kept. */
export interface ParsedJson {
  readonly value: unknown
  /** Some string or member name holds half of a surrogate pair. */
  readonly hasLoneSurrogate: boolean
}

// Each level takes two brackets.
const TOO_SHORT_TO_BE_DEEP = 2 * MAX_JSON_DEPTH
const TOO_DEEP = `arrays and objects are nested deeper than ${MAX_JSON_DEPTH} levels`
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Parse UTF-8 JSON strictly, off the main thread when it is large.
 *
 * @param bytes - Of more than 1 MiB they are handed to a worker thread and are then detached here.
 * @throws {CruxError} `JSON_INVALID`.
 */
export async function parseJsonBytes(bytes: Uint8Array): Promise<unknown> {
  return (await parseJson(bytes)).value
}

/**
 * Like {@link parseJsonBytes}, and tells whether the strings are well-formed.
 *
 * A small body is answered at once, so that the common request costs no turn of the event loop.
 *
 * @throws {CruxError} `JSON_INVALID`.
 */
export function parseJson(bytes: Uint8Array): ParsedJson | Promise<ParsedJson> {
  if (bytes.byteLength > WORKER_PARSE_BYTES) {
    return parseInWorker(bytes).then((outcome) => {
      if ('refused' in outcome) throw invalid(outcome.refused)
      if (outcome.isTooDeep) throw invalid(TOO_DEEP)
      return { value: outcome.value, hasLoneSurrogate: outcome.hasLoneSurrogate }
    })
  }
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch (error) {
    throw invalid('the body is not valid UTF-8', error)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalid(messageOf(error), error)
  }
  const hasEscapes = text.includes('\\u')
  if (!hasEscapes && text.length < TOO_SHORT_TO_BE_DEEP) return { value, hasLoneSurrogate: false }
  const { hasLoneSurrogate, isTooDeep } = inspectJson(value, hasEscapes, MAX_JSON_DEPTH)
  if (isTooDeep) throw invalid(TOO_DEEP)
  return { value, hasLoneSurrogate }
}

function invalid(why: string, cause?: unknown): CruxError<McpErrorCode> {
  // The engine quotes the text around the mistake, which may hold a secret.
  const scrubbed = why.replace(/(?:, )?(?:\.{3})?"[\s\S]*"(?:\.{3})? is not valid JSON$/, '')
  return new CruxError('JSON_INVALID', (scrubbed || 'not a JSON value').slice(0, 200), { cause })
}
