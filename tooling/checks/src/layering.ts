import { isBuiltin } from 'node:module'
import { dirname, posix } from 'node:path'
import ts from 'typescript'
import { SHARED_SETTINGS } from './package-map.js'
import type { TextFile, WorkspacePackage } from './workspace.js'

/** What is checked: the packages, the map of allowed imports, and every package's sources. */
export interface LayeringInput {
  readonly packages: readonly WorkspacePackage[]
  readonly map: Readonly<Record<string, readonly string[]>>
  /** Sources of all packages; paths from the workspace root. */
  readonly sources: readonly TextFile[]
}

/**
 * Every import or dependency that breaks the package map, one sentence each.
 *
 * Checked: each package has a line in the map and each line a package; dependencies of
 * `package.json` and imports of sources stay within the line; an import names a listed export
 * (no deep imports), never leaves its package by a relative path, and is declared in
 * `package.json` (in `dependencies` unless only tests use it).
 */
export function findLayeringViolations({ packages, map, sources }: LayeringInput): string[] {
  const byName = new Map(packages.map((one) => [one.name, one]))
  return [
    ...packages
      .filter(({ name }) => map[name] === undefined)
      .map(({ name, folder }) => `${folder}: ${name} has no line in the package map`),
    ...Object.keys(map)
      .filter((name) => !byName.has(name))
      .map((name) => `package map: ${name} does not exist`),
    ...findCycles(map),
    ...packages.flatMap((one) => [
      ...findDependencyViolations(one, byName, map),
      ...sources
        .filter((file) => file.path.startsWith(`${one.folder}/`))
        .flatMap((file) => findImportViolations(file, one, byName, map)),
    ]),
  ]
}

/** Module specifiers of a source file, static and dynamic, in order. */
export function importsOf(file: TextFile): string[] {
  return ts.preProcessFile(file.text, true, true).importedFiles.map(({ fileName }) => fileName)
}

function findCycles(map: LayeringInput['map']): string[] {
  const done = new Set<string>()
  const violations: string[] = []
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) {
      violations.push(`package map: ${[...path, name].join(' -> ')} is a cycle`)
      return
    }
    if (done.has(name)) return
    for (const next of map[name] ?? []) visit(next, [...path, name])
    done.add(name)
  }
  for (const name of Object.keys(map)) visit(name, [])
  return violations
}

function findDependencyViolations(
  one: WorkspacePackage,
  byName: ReadonlyMap<string, WorkspacePackage>,
  map: LayeringInput['map'],
): string[] {
  const { dependencies = {}, devDependencies = {} } = one.manifest
  const allowed = map[one.name] ?? []
  const violations: string[] = []
  for (const [name, range] of Object.entries({ ...devDependencies, ...dependencies })) {
    if (!byName.has(name)) {
      if (range !== 'catalog:') {
        violations.push(`${one.folder}/package.json: ${name} is '${range}', expected 'catalog:'`)
      }
    } else if (name === SHARED_SETTINGS) {
      if (dependencies[name] !== undefined) {
        violations.push(`${one.folder}/package.json: ${name} belongs into devDependencies`)
      }
    } else if (!allowed.includes(name)) {
      violations.push(`${one.folder}/package.json: ${one.name} may not depend on ${name}`)
    }
  }
  return violations
}

function findImportViolations(
  file: TextFile,
  one: WorkspacePackage,
  byName: ReadonlyMap<string, WorkspacePackage>,
  map: LayeringInput['map'],
): string[] {
  const { dependencies = {}, devDependencies = {} } = one.manifest
  const isForTests = /\.test\.ts$|\/testing\/|\/fixtures\/|\.config\.[jt]s$/.test(file.path)
  const problem = (specifier: string): string | undefined => {
    if (specifier.startsWith('.')) {
      const target = posix.normalize(posix.join(dirname(file.path), specifier))
      return target.startsWith(`${one.folder}/`) ? undefined : 'leaves the package'
    }
    if (specifier.startsWith('node:')) return undefined
    if (isBuiltin(specifier)) return `is built in; write 'node:${specifier}'`
    const name = specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/')
    const target = byName.get(name)
    if (target !== undefined && name !== one.name && !(map[one.name] ?? []).includes(name)) {
      return `is not a package that ${one.name} may import`
    }
    if (
      target !== undefined &&
      !Object.hasOwn(target.manifest.exports ?? {}, toSubpath(specifier, name))
    ) {
      return `is not among the exports of ${name}`
    }
    if (name === one.name) return undefined
    if (dependencies[name] === undefined && !(isForTests && devDependencies[name] !== undefined)) {
      return `is not in the ${isForTests ? 'dependencies or devDependencies' : 'dependencies'} of ${one.folder}/package.json`
    }
    return undefined
  }
  return importsOf(file).flatMap((specifier) => {
    const found = problem(specifier)
    return found === undefined ? [] : [`${file.path}: import of '${specifier}' ${found}`]
  })
}

function toSubpath(specifier: string, name: string): string {
  return specifier === name ? '.' : `.${specifier.slice(name.length)}`
}
