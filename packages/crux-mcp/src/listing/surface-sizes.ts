import { INTENTS, intentBias } from 'crux-session'
import { ANONYMOUS, dispatchTokens } from 'crux-types'
import type { Tool } from '../tools/define-tool.js'
import { createToolLister, type ToolListing } from './list-tools.js'
import { HABIT_CALLS, type Leaning } from './shape-surface.js'
import type { SurfaceMode } from './surface-mode.js'

/** What a list costs whoever reads it. */
export interface SurfaceSize {
  readonly surface: SurfaceMode
  readonly tools: number
  /** UTF-8 bytes of the result of `tools/list`. */
  readonly bytes: number
  /** Bytes over four: no model's tokenizer, and close to what they count. */
  readonly tokens: number
}

/** How large each surface is at most: of `dynamic`, the largest that an intent or habits bring about. */
export function surfaceSizes(tools: readonly Tool[]): readonly SurfaceSize[] {
  const sizeOf = (surface: SurfaceMode, leaning?: Leaning): SurfaceSize => {
    const list = createToolLister({
      tools,
      surface: () => surface,
      ...(leaning === undefined ? {} : { leaningOf: () => leaning }),
    })
    // Without extension tools nothing is waited for.
    const { text, tools: shown } = list({ caller: ANONYMOUS }) as ToolListing
    return {
      surface,
      tools: shown.length,
      bytes: Buffer.byteLength(text),
      tokens: dispatchTokens(text),
    }
  }
  const dynamic = leaningsOf(tools).map((leaning) => sizeOf('dynamic', leaning))
  const largest = dynamic.reduce((a, b) => (b.bytes > a.bytes ? b : a))
  return [sizeOf('full'), largest, sizeOf('minimal')]
}

function leaningsOf(tools: readonly Tool[]): readonly Leaning[] {
  const byIntent = Object.keys(INTENTS).map((intent) => ({
    bias: (affinity: string) => intentBias(intent, affinity),
    recentTools: [],
  }))
  // The longest entries, each used once of late.
  const longest = [...tools]
    .sort((a, b) => JSON.stringify(b.inputSchema).length - JSON.stringify(a.inputSchema).length)
    .map(({ name }) => name)
  return [...byIntent, { bias: () => 0, recentTools: longest.slice(0, HABIT_CALLS) }]
}
