import { ANONYMOUS, agentCaller } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { createCursors } from './cursors.js'

const owner = { tool: 'query_facts', caller: agentCaller('anna'), args: { query: 'a', top_k: 3 } }

describe('createCursors', () => {
  it('gives back the place, whatever the order of the arguments and with the cursor among them', () => {
    const cursors = createCursors()
    const cursor = cursors.seal(owner, [1.5, -2, 3e12])
    expect(cursors.open(owner, cursor)).toEqual([1.5, -2, 3e12])
    const again = { ...owner, args: { top_k: 3, cursor, query: 'a', entity: null } }
    expect(cursors.open(again, cursor)).toEqual([1.5, -2, 3e12])
  })

  it('knows nested arguments again in any order, and no others', () => {
    const cursors = createCursors()
    const scoped = (scope: object) => ({ ...owner, args: { scope } })
    const cursor = cursors.seal(scoped({ type: 'entity_prefix', value: 'a' }), [7])
    expect(cursors.open(scoped({ value: 'a', type: 'entity_prefix' }), cursor)).toEqual([7])
    expect(() => cursors.open(scoped({ value: 'b', type: 'entity_prefix' }), cursor)).toThrow()
  })

  it('refuses what belongs elsewhere or was changed', () => {
    const cursors = createCursors(Buffer.alloc(32, 1))
    const cursor = cursors.seal(owner, [1, 2])
    const refused = [
      () => cursors.open({ ...owner, caller: ANONYMOUS }, cursor),
      () => cursors.open({ ...owner, caller: { ...owner.caller, tenant: 'acme' } }, cursor),
      () => cursors.open({ ...owner, tool: 'get_bootstrap' }, cursor),
      () => cursors.open({ ...owner, args: { query: 'b', top_k: 3 } }, cursor),
      () => createCursors(Buffer.alloc(32, 2)).open(owner, cursor),
      () => cursors.open(owner, ''),
      () => cursors.open(owner, 'x'.repeat(40)),
      () => cursors.open(owner, Buffer.from(`${cursor}x`).toString('base64url')),
    ]
    for (const attempt of refused) expect(attempt).toThrow(/repeat the call without it/)
  })
})
