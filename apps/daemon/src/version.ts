import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** What this program is. */
export interface BuildInfo {
  readonly version: string
  /** Commit it was built from; `unknown` when the build did not say. */
  readonly commit: string
}

const packageFile = z.object({ version: z.string() })

/** Read the version from the package's own description. */
export function readBuildInfo(): BuildInfo {
  // The same distance from src/ and from dist/.
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return { version: packageFile.parse(JSON.parse(text)).version, commit: 'unknown' }
}

/** Compare versions of the form `1.2.3`; what follows a hyphen is left out. */
export function isSameVersionOrNewer(version: string, than: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(than)]
  for (const [at, number] of right.entries()) {
    const own = left[at] ?? 0
    if (own !== number) return own > number
  }
  return true
}

function numbersOf(version: string): number[] {
  return (version.split('-')[0] ?? '').split('.').map(Number)
}
