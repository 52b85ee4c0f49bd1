import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Caller } from 'crux-types'
import { isObject } from 'crux-types'
import { invalidArguments } from '../tools/parse-arguments.js'

/** What a cursor belongs to: it goes on for the same caller with the same arguments only. */
export interface CursorOwner {
  readonly tool: string
  readonly caller: Caller
  /** Arguments of the call as they were sent; `cursor` itself does not count. */
  readonly args: Readonly<Record<string, unknown>>
}

/** Writes and reads cursors: where an answer ended, as text that only this process can make. */
export interface Cursors {
  seal(owner: CursorOwner, place: readonly number[]): string
  /** @throws {CruxError} `ARGUMENTS_INVALID` for a cursor of another caller, other arguments or another process. */
  open(owner: CursorOwner, cursor: string): readonly number[]
}

const KEY_BYTES = 32
const MAC_BYTES = 16
const REFUSAL =
  'cursor: it belongs to another caller, to other arguments or to an earlier run; repeat the call without it'

/** @param key - Secret of at least 16 bytes; cursors of other keys are refused. Default: a random one. */
export function createCursors(key: Uint8Array = randomBytes(KEY_BYTES)): Cursors {
  const mac = (owner: CursorOwner, place: string): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([nameOf(owner), place], inOrder))
      .digest()
      .subarray(0, MAC_BYTES)
  return {
    seal(owner, place) {
      const text = JSON.stringify(place)
      return Buffer.concat([mac(owner, text), Buffer.from(text)]).toString('base64url')
    },
    open(owner, cursor) {
      const bytes = Buffer.from(cursor, 'base64url')
      const text = bytes.toString('utf8', MAC_BYTES)
      const given = bytes.subarray(0, MAC_BYTES)
      if (given.length < MAC_BYTES || !timingSafeEqual(given, mac(owner, text))) {
        throw invalidArguments(REFUSAL)
      }
      // Written by `seal`, as the code shows.
      return JSON.parse(text) as number[]
    },
  }
}

function nameOf({ tool, caller, args }: CursorOwner): unknown {
  const { kind, agent, identity, tenant } = caller
  const given = Object.entries(args).filter(
    ([name, value]) => name !== 'cursor' && value !== null && value !== undefined,
  )
  return [tool, kind, agent, identity, tenant, Object.fromEntries(given)]
}

/** Objects that are equal become equal text, whatever the order of their members. */
function inOrder(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
