import type { Settings } from './load.js'

type LogLevel = Settings['logLevel']

const LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'off']

/**
 * Level that a `RUST_LOG` text asks for: its plain level, else the one of `corecruxd=`.
 *
 * @param warnings - Gets a sentence when the text names no level.
 * @returns undefined when it is unset or names no level.
 */
export function logLevelFromRustLog(
  text: string | undefined,
  warnings: string[],
): LogLevel | undefined {
  if (text === undefined || text.trim() === '') return undefined
  const directives = text.split(',').map((directive) => directive.trim().toLowerCase())
  const named = directives.find((directive) => directive.startsWith('corecruxd='))
  for (const word of [...directives, named?.slice('corecruxd='.length)]) {
    const level = LEVELS.find((candidate) => candidate === word)
    if (level !== undefined) return level
  }
  warnings.push(
    `RUST_LOG=${JSON.stringify(text)} names no level (${LEVELS.join(', ')}) and is ignored`,
  )
  return undefined
}
