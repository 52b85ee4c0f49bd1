import type { CallToolResult } from '@modelcontextprotocol/server'
import { uuidHex } from 'crux-types'

/** From this many characters on, a result goes round the protocol library. */
const HELD_FROM_CHARS = 64 * 1024
const META = ',"_meta":'
const STRUCTURE = '],"structuredContent":'

/**
 * Large results of one request, which the protocol library sees only a mark of: it would read, check
 * and write them anew, and hold everybody else up meanwhile.
 *
 * A mark stands for all members of a result but `_meta`, to which the library adds members of its own.
 */
export class HeldResults {
  private readonly held = new Map<string, string>()

  /**
   * Keep a large result.
   *
   * @param result - JSON text, as dispatch writes it: `content` first, `_meta` last.
   * @param needsStructure - Whether it has to have `structuredContent`.
   * @returns What to give the library; undefined for a result that it may as well have.
   */
  hold(result: string, needsStructure: boolean): CallToolResult | undefined {
    if (result.length < HELD_FROM_CHARS) return undefined
    // A quote within a text is escaped, so that no text looks like this.
    if (needsStructure && !result.includes(STRUCTURE)) return undefined
    const at = result.lastIndexOf(META)
    const meta = at < 0 ? undefined : objectIn(result.slice(at + META.length, -1))
    const stub: CallToolResult = { content: [{ type: 'text', text: uuidHex() }] }
    this.held.set(contentOf(stub), result.slice(1, meta === undefined ? -1 : at))
    return meta === undefined ? stub : { ...stub, _meta: meta }
  }

  /** Put results in the place of their marks. */
  fill(message: string): string {
    let filled = message
    for (const [mark, members] of this.held) {
      const at = filled.indexOf(mark)
      if (at < 0) continue
      filled = filled.slice(0, at) + members + filled.slice(at + mark.length)
      this.held.delete(mark)
    }
    return filled
  }
}

/** The member as the library writes it. */
function contentOf({ content }: CallToolResult): string {
  return `"content":${JSON.stringify(content)}`
}

/** Undefined for what is no JSON: members deeper down can have the same name, and more after them. */
function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
