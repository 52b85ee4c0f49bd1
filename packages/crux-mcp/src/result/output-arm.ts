import { dispatchTokens } from 'crux-types'
import type { CallContext } from '../tools/define-tool.js'

/** How the answer to one call goes out: shaped, or as a control that shaped ones are compared with. */
export interface OutputArm {
  /** Answer the way of old: a budget drops what does not fit, and JSON is indented. */
  readonly isControl: boolean
  /** @returns The JSON text that goes out, measured for `token_savings`. */
  write(compact: string): string
}

/** The arm of every call while there is no hold-out. */
const SHAPED: OutputArm = { isControl: false, write: (compact) => compact }

/**
 * The arm of a call: the same one for the same arguments, whichever page they ask for.
 *
 * @param tool - Its name, since two tools may be called with the same arguments.
 */
export function outputArm(
  tool: string,
  { args, observe: { holdout } }: Pick<CallContext, 'args' | 'observe'>,
): OutputArm {
  if (!holdout.isOn) return SHAPED
  const key = `${tool}:${JSON.stringify({ ...args, cursor: undefined })}`
  const isControl = holdout.isControl(key)
  return {
    isControl,
    write(compact) {
      const isPair = holdout.measuresCompaction(key)
      const pretty = isControl || isPair ? JSON.stringify(JSON.parse(compact), null, 2) : ''
      if (isPair) holdout.addPair(dispatchTokens(pretty), dispatchTokens(compact))
      const text = isControl ? pretty : compact
      holdout.addAnswer(isControl ? 'control' : 'treatment', dispatchTokens(text))
      return text
    },
  }
}
