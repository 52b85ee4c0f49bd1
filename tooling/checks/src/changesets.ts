import { parse } from 'yaml'
import type { TextFile } from './workspace.js'

const KINDS = ['major', 'minor', 'patch']

/**
 * What is wrong with a changeset, one sentence each: its front matter must map names of packages
 * of the workspace to `major`, `minor` or `patch`, and a text for the user must follow.
 */
export function findChangesetViolations(file: TextFile, packages: ReadonlySet<string>): string[] {
  const match = /^---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(file.text)
  if (match === null) return [`${file.path}: has no front matter`]
  const releases: unknown = parse(match[1] ?? '')
  const violations: string[] = []
  if (typeof releases !== 'object' || releases === null || Object.keys(releases).length === 0) {
    return [`${file.path}: names no package`]
  }
  for (const [name, kind] of Object.entries(releases)) {
    if (!packages.has(name)) violations.push(`${file.path}: ${name} is not a package`)
    if (!KINDS.includes(String(kind))) {
      violations.push(`${file.path}: ${name} is '${String(kind)}', expected ${KINDS.join(', ')}`)
    }
  }
  const text = (match[2] ?? '').trim()
  if (text.length < 20) violations.push(`${file.path}: says nothing to the user`)
  if (/^(?:fix|feat|chore|docs|refactor|test)(?:\([^)]*\))?:/i.test(text)) {
    violations.push(`${file.path}: starts with a commit prefix; write a sentence for the user`)
  }
  return violations
}
