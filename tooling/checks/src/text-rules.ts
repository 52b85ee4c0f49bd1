import type { TextFile } from './workspace.js'

/** A kind of text that does not belong into the project, with why. */
export interface TextRule {
  readonly name: string
  readonly pattern: RegExp
}

// Needles are put together from parts, so that this file does not trip over itself.
const REGISTRY_HOSTS = [
  ['npm', 'js', '.', '(?:org|com)'],
  ['yarn', 'pkg', '.', 'com'],
  ['npm', 'mirror', '.', 'com'],
  ['registry', '.', '[a-z0-9-]+', '.', '(?:org|com|io|dev|net)'],
  ['pypi', '.', 'org'],
  ['crates', '.', 'io'],
].map((parts) => parts.map((part) => (part === '.' ? '\\.' : part)).join(''))

/**
 * Text that no file of the project may hold: hosts of package registries (which registry serves
 * is the installer's configuration), paths of one developer's machine, and numbers of issues
 * (the project explains itself without its tracker).
 */
export const TEXT_RULES: readonly TextRule[] = [
  {
    name: 'a registry host name',
    pattern: new RegExp(`(?<![\\w-])(?:${REGISTRY_HOSTS.join('|')})`, 'gi'),
  },
  {
    name: 'a path of one machine',
    pattern: new RegExp(`(?<![\\w.~-])/${'work'}/`, 'g'),
  },
  {
    name: 'an issue number',
    pattern:
      /\b(?:issue|issues|pull request|PR|fixes|closes|resolves)\s+#?\d+\b|(?<=\s|\()#\d+\b(?!\s*\{)/gi,
  },
]

/** Every breach of {@link TEXT_RULES} in a file, as `path:line: holds <what>: <match>`. */
export function findTextViolations(file: TextFile, rules = TEXT_RULES): string[] {
  return rules.flatMap(({ name, pattern }) =>
    [...file.text.matchAll(pattern)].map((match) => {
      const line = file.text.slice(0, match.index).split('\n').length
      return `${file.path}:${line}: holds ${name}: ${match[0].trim()}`
    }),
  )
}
