/**
 * The known name closest to a mistyped one, by edit distance.
 *
 * @returns undefined when none is closer than a third of the name's length.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.floor(name.length / 3) + 1
  for (const candidate of known) {
    const distance = editDistance(name, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Levenshtein distance in UTF-16 units, with one row of memory. */
function editDistance(a: string, b: string): number {
  const row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    let diagonal = row[0] ?? 0
    row[0] = i
    for (let j = 1; j <= b.length; j++) {
      const above = row[j] ?? 0
      const left = row[j - 1] ?? 0
      const substituted = diagonal + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(substituted, above + 1, left + 1)
      diagonal = above
    }
  }
  return row[b.length] ?? 0
}
