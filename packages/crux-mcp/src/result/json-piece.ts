/**
 * A piece of JSON text in two forms: as it stands in a document, and as it stands inside a string
 * of one. An envelope goes out in both; quoting what is known in advance costs nothing then.
 */
export interface JsonPiece {
  readonly plain: string
  readonly quoted: string
}

/** One of the two forms. */
export type PieceForm = keyof JsonPiece

/** A piece of JSON text, quoted here and now. */
export function jsonPiece(plain: string): JsonPiece {
  return { plain, quoted: JSON.stringify(plain).slice(1, -1) }
}

/** Pieces in one form, with commas between. */
export function joinPieces(pieces: readonly JsonPiece[], form: PieceForm): string {
  return pieces.map((piece) => piece[form]).join(',')
}
