import { createHash } from 'node:crypto'
import type { PageMark } from 'crux-memory'
import type { CallContext } from '../tools/define-tool.js'
import type { CursorOwner } from './cursors.js'

/** Bytes of a fingerprint: as many as a number holds exactly. */
const FINGERPRINT_BYTES = 6

/** What to say when what earlier pages gave is no longer the beginning. */
export const MOVED =
  'what was given on earlier pages has changed since, so items may be missing or repeat; repeat the call without cursor to begin anew'

type CursorCall = Pick<CallContext, 'args' | 'caller' | 'cursors'>

/** The part of a list that a call asks for. */
export interface ListPage<Item> {
  /** What earlier pages did not give. */
  readonly rest: readonly Item[]
  /** Set when the list is not the one that earlier pages were cut from. */
  readonly warning: string | undefined
  /** Cursor for what follows the first `count` of `rest`; undefined when nothing does. */
  cursorAfter(count: number): string | undefined
}

/**
 * Go on in a list that is found anew for each page, such as a ranking.
 *
 * The cursor holds how much was given and a fingerprint of it: nothing is kept between calls, and a
 * list that changed before that place is noticed. What changed behind it is simply given.
 *
 * @param items - The whole list, from its start.
 * @param idOf - What tells an item from all others.
 * @throws {CruxError} `ARGUMENTS_INVALID` for a cursor that does not belong to the call.
 */
export function pageOfList<Item>(
  tool: string,
  call: CursorCall,
  items: readonly Item[],
  idOf: (item: Item) => string,
): ListPage<Item> {
  const owner = ownerOf(tool, call)
  const [given = 0, print] = openPlace(owner, call) ?? []
  const fingerprint = (count: number): number => {
    const ids = JSON.stringify(items.slice(0, count).map(idOf))
    return createHash('sha256').update(ids).digest().readUIntBE(0, FINGERPRINT_BYTES)
  }
  const rest = items.slice(given)
  return {
    rest,
    warning: print === undefined || print === fingerprint(given) ? undefined : MOVED,
    cursorAfter(count) {
      if (count === 0 || count >= rest.length) return undefined
      return call.cursors.seal(owner, [given + count, fingerprint(given + count)])
    },
  }
}

/** Where a page of stored records goes on. */
export interface RecordPlace {
  /** Records that earlier pages gave. */
  readonly given: number
  readonly after: PageMark
}

/**
 * Where a call goes on among stored records; undefined when it begins.
 *
 * Unlike in a list, what is stored between two pages is left out, and nothing moves.
 *
 * @throws {CruxError} `ARGUMENTS_INVALID` for a cursor that does not belong to the call.
 */
export function openRecordPlace(tool: string, call: CursorCall): RecordPlace | undefined {
  const place = openPlace(ownerOf(tool, call), call)
  if (place === undefined) return undefined
  const [given = 0, now = 0, limit = 0, first = 0, second = 0, row = 0, changes = 0] = place
  return { given, after: { now, limit, first, second, row, changes } }
}

/** Cursor for the records after a mark. */
export function sealRecordPlace(tool: string, call: CursorCall, place: RecordPlace): string {
  const { given, after } = place
  const { now, limit, first, second, row, changes } = after
  const numbers = [given, now, limit, first, second, row, changes]
  return call.cursors.seal(ownerOf(tool, call), numbers)
}

/** Numbers of the cursor that a call was given; undefined without one. */
export function openPlace(owner: CursorOwner, { args, cursors }: CursorCall) {
  const { cursor } = args
  return typeof cursor === 'string' ? cursors.open(owner, cursor) : undefined
}

/** Whom a cursor of this call belongs to. */
export function ownerOf(tool: string, { args, caller }: CursorCall): CursorOwner {
  return { tool, caller, args }
}
