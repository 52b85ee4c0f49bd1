const NEWLINE = 0x0a

/**
 * Hand the lines of a snapshot's state to `take`, in order, without their ends.
 *
 * Bytes after the last line end are no line. Waits where `take` gives a promise, and only there: a
 * state may have a million lines.
 *
 * @param take - Gets bytes that are its own only until it returns.
 */
export async function forEachStateLine(
  state: AsyncIterable<Uint8Array>,
  take: (line: Buffer) => Promise<void> | undefined,
): Promise<void> {
  let rest: Uint8Array = Buffer.alloc(0)
  for await (const chunk of state) {
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      const waiting = take(bytes.subarray(start, end))
      if (waiting !== undefined) await waiting
      start = end + 1
    }
    rest = bytes.subarray(start)
  }
}
