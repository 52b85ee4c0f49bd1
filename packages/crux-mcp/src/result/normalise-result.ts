import { isObject } from 'crux-types'
import { JsonText } from './json-text.js'
import type { ToolResult } from './tool-result.js'

/**
 * Bring what a handler returned into the form of the protocol.
 *
 * - A result with `content` stays as it is.
 * - `{payload, envelope}` without `content`: the payload becomes the result, a payload that is no
 *   object as `structuredContent.value`; the envelope goes to `structuredContent.envelope` and `_meta.envelope`.
 * - Anything else becomes one text that holds its compact JSON.
 *
 * @throws {TypeError} For content that is not text throughout: it would make no answer.
 */
export function normaliseResult(raw: unknown): ToolResult {
  if (isToolResult(raw)) {
    if (raw.content.every(isText)) return raw
    throw new TypeError('a handler returned content that is not text')
  }
  if (isObject(raw) && 'payload' in raw && 'envelope' in raw) {
    const inner = isObject(raw.payload)
      ? normaliseResult(raw.payload)
      : { ...asText(raw.payload), structuredContent: { value: raw.payload } }
    return {
      ...inner,
      structuredContent: { ...inner.structuredContent, envelope: raw.envelope },
      envelope: raw.envelope,
    }
  }
  return asText(raw)
}

function asText(raw: unknown): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(raw) ?? 'null' }] }
}

function isText(item: unknown): boolean {
  return isObject(item) && (typeof item.text === 'string' || item.text instanceof JsonText)
}

function isToolResult(raw: unknown): raw is ToolResult {
  return isObject(raw) && Array.isArray(raw.content)
}
