/** A chunk's address as it was asked for. */
export type Handle =
  | { readonly kind: 'positional'; readonly segmentIndex: number; readonly docId: number }
  | { readonly kind: 'stable'; readonly segmentId: string; readonly docId: number }

// A segment id may consist of decimal digits only; its length tells it from an index.
const STABLE = /^([0-9a-f]{32}):([0-9]+)$/
const POSITIONAL = /^([0-9]{1,31}):([0-9]+)$/

/** Read `<segment index>:<doc>` or `<segment id>:<doc>`; undefined when it is neither. */
export function parseHandle(text: string): Handle | undefined {
  const stable = STABLE.exec(text)
  if (stable !== null) {
    return { kind: 'stable', segmentId: stable[1] ?? '', docId: Number(stable[2]) }
  }
  const positional = POSITIONAL.exec(text)
  if (positional === null) return undefined
  return {
    kind: 'positional',
    segmentIndex: Number(positional[1]),
    docId: Number(positional[2]),
  }
}

/** The address of a chunk, which stays the same for as long as the chunk is current. */
export function formatChunkRef(segmentId: string, docId: number): string {
  return `${segmentId}:${docId}`
}
