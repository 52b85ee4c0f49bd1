import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'

/**
 * One page of a list.
 *
 * @param cursor - `nextCursor` of the page before; it names the last entry seen, so a list that
 * changed meanwhile neither repeats nor skips what is still there.
 * @param nameOf - What tells entries apart.
 * @throws {ProtocolError} -32602 for a cursor of another list.
 */
export function pageOf<Entry>(
  list: string,
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string,
  cursor: string | undefined,
  size: number,
): { readonly entries: readonly Entry[]; readonly nextCursor?: string } {
  const start = cursor === undefined ? 0 : placeAfter(list, entries, nameOf, cursor)
  const page = entries.slice(start, start + size)
  const last = page.at(-1)
  if (last === undefined || start + size >= entries.length) return { entries: page }
  const place = JSON.stringify([list, start + size, nameOf(last)])
  return { entries: page, nextCursor: Buffer.from(place).toString('base64url') }
}

function placeAfter<Entry>(
  list: string,
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string,
  cursor: string,
): number {
  const [from, place, name] = read(cursor)
  if (from !== list || typeof place !== 'number' || !Number.isSafeInteger(place) || place < 0) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `cursor: expected nextCursor of an earlier ${list}; leave it out to begin`,
    )
  }
  const found = entries.findIndex((entry) => nameOf(entry) === name)
  return found < 0 ? place : found + 1
}

function read(cursor: string): readonly unknown[] {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(place) ? place : []
  } catch {
    return []
  }
}
