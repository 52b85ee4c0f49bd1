/** How fast more occurrences of a term stop counting. */
export const BM25_K1 = 1.2

/** How much of a document's length is held against it; 0 none, 1 all. */
export const BM25_B = 0.75

/**
 * Weight of a term by how few documents hold it.
 *
 * @param n - Documents in the index.
 * @param df - Documents that hold the term; 0 <= df <= n.
 * @returns Unitless, > 0 even for a term that every document holds.
 * @see Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009)
 */
export function bm25Idf(n: number, df: number): number {
  return Math.log((n - df + 0.5) / (df + 0.5) + 1)
}

/**
 * What a document's length adds to the denominator of {@link bm25TermFrequency}.
 *
 * @param length - Tokens of the document.
 * @param meanLength - Mean tokens of a document, > 0.
 */
export function bm25LengthNorm(length: number, meanLength: number): number {
  return BM25_K1 * (1 - BM25_B + (BM25_B * length) / meanLength)
}

/**
 * Weight of a term by how often a document holds it.
 *
 * @param tf - Times the term occurs in the document, >= 1.
 * @param lengthNorm - {@link bm25LengthNorm} of the document.
 * @returns Unitless, below 2.2.
 */
export function bm25TermFrequency(tf: number, lengthNorm: number): number {
  return (tf * (BM25_K1 + 1)) / (tf + lengthNorm)
}
