/**
 * A value whose JSON is known already.
 *
 * An envelope goes out twice in one answer, as text and as structured content; with this it is
 * turned into JSON once.
 */
export class JsonText {
  /** @param text - Compact JSON. */
  constructor(readonly text: string) {}
}
