const MAX_LISTINGS = 64
const MAX_CHARS = 16 * 1024 * 1024

/** Written lists by what they depend on; at most 64, of at most 16 Mi characters together, the least used dropped. */
export class ListingCache<Listing extends { readonly text: string }> {
  // In the order of their last use.
  readonly #listings = new Map<string, Listing>()
  #chars = 0

  get size(): number {
    return this.#listings.size
  }

  /** The list under this key, written if it is not held. */
  get(key: string, write: () => Listing): Listing {
    const held = this.#listings.get(key)
    if (held !== undefined) {
      this.#listings.delete(key)
      this.#listings.set(key, held)
      return held
    }
    const listing = write()
    this.#listings.set(key, listing)
    this.#chars += listing.text.length
    for (const [oldest, { text }] of this.#listings) {
      if (this.#listings.size <= MAX_LISTINGS && this.#chars <= MAX_CHARS) break
      this.#listings.delete(oldest)
      this.#chars -= text.length
    }
    return listing
  }
}
