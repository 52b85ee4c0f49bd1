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

/** A scalar as JSON. */
export function valuePiece(value: string | number | boolean | null): JsonPiece {
  if (typeof value === 'string') return jsonPiece(JSON.stringify(value))
  const plain = JSON.stringify(value)
  return { plain, quoted: plain }
}

/**
 * Tag of a template that is JSON text with named places for values; its text is quoted once, when the
 * template is made, and not each time it is filled.
 *
 * @example
 * const age = pieceTemplate`{"age_hours":${'age'}}`
 * age({ age: valuePiece(3) }).quoted // {\"age_hours\":3}
 */
export function pieceTemplate<Place extends string>(
  texts: TemplateStringsArray,
  ...places: readonly Place[]
): (values: Readonly<Record<Place, JsonPiece>>) => JsonPiece {
  const parts = texts.map(jsonPiece)
  return (values) => {
    let { plain, quoted } = parts[0] ?? EMPTY
    for (let at = 0; at < places.length; at++) {
      const value = values[places[at] as Place] // below the length
      const after = parts[at + 1] ?? EMPTY
      plain += value.plain + after.plain
      quoted += value.quoted + after.quoted
    }
    return { plain, quoted }
  }
}

const EMPTY: JsonPiece = { plain: '', quoted: '' }
