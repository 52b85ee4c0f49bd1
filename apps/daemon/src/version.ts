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
