import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readSessionId } from '../gates/session-id.js'
import { capabilitiesOf, hasForms, mintSessionId } from './client-capabilities.js'

const optional = (value: object) => fc.constantFrom(undefined, value)
const declared = fc
  .record({
    forms: fc.constantFrom('none', 'bare', 'form', 'url', 'both'),
    sampling: optional({}),
    roots: optional({ listChanged: true }),
  })
  .map(({ forms, sampling, roots }) => ({
    ...(forms === 'none' ? {} : { elicitation: KINDS[forms] }),
    ...(sampling === undefined ? {} : { sampling }),
    ...(roots === undefined ? {} : { roots }),
  }))
const KINDS = { bare: {}, form: { form: {} }, url: { url: {} }, both: { form: {}, url: {} } }

it('carries in the session id what a client can be asked, and nothing else', () => {
  fc.assert(
    fc.property(declared, (capabilities) => {
      const id = mintSessionId(capabilities)
      expect(readSessionId({ headers: { 'mcp-session-id': id } } as never)).toBe(id)
      const read = capabilitiesOf(id)
      expect(hasForms(read)).toBe(hasForms(capabilities))
      expect(read.elicitation?.url !== undefined).toBe(
        'elicitation' in capabilities && 'url' in (capabilities.elicitation ?? {}),
      )
      expect(read.sampling !== undefined).toBe('sampling' in capabilities)
      expect(read.roots !== undefined).toBe('roots' in capabilities)
    }),
  )
})

it('finds nothing in ids that clients choose', () => {
  for (const id of [undefined, 'mine', '0'.repeat(32), 'a.b', 'x.', 'x.q', '.']) {
    expect(capabilitiesOf(id)).toEqual({})
  }
})
