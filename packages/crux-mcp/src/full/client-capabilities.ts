import type { ClientCapabilities } from '@modelcontextprotocol/server'
import { uuidHex } from 'crux-types'

// What is asked of clients, with the letter that stands for it in a session id.
const LETTERS: readonly (readonly [
  letter: string,
  has: (capabilities: ClientCapabilities) => boolean,
  means: ClientCapabilities,
])[] = [
  ['e', hasForms, { elicitation: { form: {} } }],
  ['u', ({ elicitation }) => elicitation?.url !== undefined, { elicitation: { url: {} } }],
  ['s', ({ sampling }) => sampling !== undefined, { sampling: {} }],
  ['r', ({ roots }) => roots !== undefined, { roots: {} }],
]
const SUFFIX = /\.([eusr]+)$/

/**
 * A new session id that says itself what its client can be asked: `<32 hex>`, with a suffix such as
 * `.es` when there is something. So the server keeps nothing, and a restart forgets nothing.
 */
export function mintSessionId(capabilities: ClientCapabilities): string {
  const letters = LETTERS.flatMap(([letter, has]) => (has(capabilities) ? [letter] : [])).join('')
  return letters === '' ? uuidHex() : `${uuidHex()}.${letters}`
}

/** What the client of a session can be asked; nothing for an id that it chose itself. */
export function capabilitiesOf(sessionId: string | undefined): ClientCapabilities {
  const letters = SUFFIX.exec(sessionId ?? '')?.[1] ?? ''
  let capabilities: ClientCapabilities = {}
  for (const [letter, , means] of LETTERS) {
    if (!letters.includes(letter)) continue
    capabilities = {
      ...capabilities,
      ...means,
      ...(means.elicitation === undefined
        ? {}
        : { elicitation: { ...capabilities.elicitation, ...means.elicitation } }),
    }
  }
  return capabilities
}

/** True when the client can show its user a form. */
export function hasForms({ elicitation }: ClientCapabilities): boolean {
  // Before there were kinds of questions, an empty capability meant forms.
  return (
    elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  )
}
