import { dirname, posix } from 'node:path'
import ts from 'typescript'
import type { TextFile, WorkspacePackage } from './workspace.js'

/**
 * Names of all packages, of ours and of others, that a source file loads before it runs: by its own
 * static imports and by those of every file behind them. What is imported when it is needed does not
 * count.
 *
 * @param entry - Path from the workspace root.
 * @param sources - Sources of all packages; paths from the workspace root.
 * @returns Sorted, with the subpath where there is one.
 */
export function eagerImports(
  entry: string,
  sources: readonly TextFile[],
  packages: readonly WorkspacePackage[],
): string[] {
  const texts = new Map(sources.map(({ path, text }) => [path, text]))
  const targets = new Map(packages.flatMap(exportedSources))
  const seen = new Set<string>()
  const found = new Set<string>()
  const open = [entry]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    const text = texts.get(path)
    if (text === undefined) throw new Error(`${path} is imported and is not there`)
    for (const specifier of staticImports(path, text)) {
      if (specifier.startsWith('node:')) continue
      if (specifier.startsWith('.')) {
        open.push(posix.join(dirname(path), specifier).replace(/\.js$/, '.ts'))
        continue
      }
      found.add(specifier)
      const target = targets.get(specifier)
      if (target !== undefined) open.push(target)
    }
  }
  return [...found].sort()
}

/** Specifiers that stay in the compiled file, with `verbatimModuleSyntax`. */
function staticImports(path: string, text: string): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023)
  return file.statements.flatMap((statement) => {
    if (ts.isImportDeclaration(statement)) {
      return statement.importClause?.isTypeOnly === true ? [] : [nameOf(statement.moduleSpecifier)]
    }
    const isExport = ts.isExportDeclaration(statement) && !statement.isTypeOnly
    const from = isExport ? statement.moduleSpecifier : undefined
    return from === undefined ? [] : [nameOf(from)]
  })
}

function nameOf(specifier: ts.Expression): string {
  return ts.isStringLiteral(specifier) ? specifier.text : ''
}

/** Specifier and source file of each export of a package. */
function exportedSources({ name, folder, manifest }: WorkspacePackage): [string, string][] {
  return Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]): [string, string][] => {
    const source = typeof target === 'string' ? undefined : target['crux-source']
    return source === undefined ? [] : [[posix.join(name, subpath), posix.join(folder, source)]]
  })
}
