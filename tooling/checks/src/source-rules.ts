import ts from 'typescript'
import type { TextFile } from './workspace.js'

/** Files that may read `process.env`: the daemon's configuration, executables, scripts and tests. */
const ENVIRONMENT_READERS =
  /^apps\/daemon\/src\/config\/|^apps\/[^/]+\/bin\/|^tooling\/|^vitest\.config\.ts$|\.test\.ts$/

/** Support of tests, which may look into answers of any shape; the linter asks for the reason. */
const TEST_SUPPORT = /\/testing\/|\.test\.ts$/

/** Files whose reader wants a default export. */
const DEFAULT_EXPORTS = /^vitest\.config\.ts$/

/**
 * What a source file does that the style forbids and the linter could be told to overlook, each
 * as `path:line: sentence`: the type `any` (test support apart), non-null assertions, default
 * exports, `export *`, switching off the compiler or these lint rules, reading the environment
 * outside the daemon's configuration, and exporting a function or class without a docstring.
 */
export function findSourceViolations(file: TextFile): string[] {
  const source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2023, true)
  const violations: string[] = []
  const report = (position: number, what: string): void => {
    const line = source.getLineAndCharacterOfPosition(position).line + 1
    violations.push(`${file.path}:${line}: ${what}`)
  }
  const visit = (node: ts.Node): void => {
    const what = violationOf(node, file.path)
    if (what !== undefined) report(node.getStart(source), what)
    ts.forEachChild(node, visit)
  }
  visit(source)
  for (const { pattern, what, isForTestSupport } of FORBIDDEN_COMMENTS) {
    if (isForTestSupport && TEST_SUPPORT.test(file.path)) continue
    for (const match of file.text.matchAll(pattern)) {
      if (isInComment(source, match.index) && !DEFAULT_EXPORTS.test(file.path)) {
        report(match.index, what)
      }
    }
  }
  return violations
}

// Written in parts so that this file does not hold what it looks for.
const FORBIDDEN_COMMENTS = [
  {
    pattern: new RegExp(`@ts-${'ignore'}|@ts-${'nocheck'}`, 'g'),
    what: 'switches the compiler off; mend the type',
    isForTestSupport: false,
  },
  {
    pattern: new RegExp(
      `biome-${'ignore'}\\S* lint/(style/noNonNullAssertion|style/noDefaultExport)`,
      'g',
    ),
    what: 'switches off a rule that has no exceptions',
    isForTestSupport: false,
  },
  {
    pattern: new RegExp(`biome-${'ignore'}\\S* lint/suspicious/noExplicitAny`, 'g'),
    what: 'switches off a rule that has no exceptions',
    isForTestSupport: true,
  },
]

function violationOf(node: ts.Node, path: string): string | undefined {
  if (node.kind === ts.SyntaxKind.AnyKeyword && !TEST_SUPPORT.test(path))
    return "uses the type 'any'"
  if (ts.isNonNullExpression(node)) return "uses a non-null assertion '!'"
  if (isDefaultExport(node) && !DEFAULT_EXPORTS.test(path)) return 'has a default export'
  if (ts.isExportDeclaration(node) && !hasNamedExports(node)) {
    return "exports '*'; list the names"
  }
  if (isProcessEnv(node) && !ENVIRONMENT_READERS.test(path)) {
    return 'reads process.env outside the configuration; take the value as a parameter'
  }
  if (isUndocumentedExport(node) && !path.endsWith('.test.ts')) {
    return 'is exported without a docstring'
  }
  return undefined
}

// Types and constants may speak through their members and names; what does something may not.
function isUndocumentedExport(node: ts.Node): boolean {
  return (
    (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) &&
    (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) &&
    !isDefaultExport(node) &&
    // Later overloads and the implementation go by the first one's docstring.
    !isLaterOverload(node) &&
    ts.getJSDocCommentsAndTags(node).length === 0
  )
}

function isLaterOverload(node: ts.Node): boolean {
  if (!ts.isFunctionDeclaration(node) || !ts.isSourceFile(node.parent)) return false
  const { statements } = node.parent
  const previous = statements[statements.indexOf(node) - 1]
  return (
    previous !== undefined &&
    ts.isFunctionDeclaration(previous) &&
    previous.body === undefined &&
    previous.name?.text === node.name?.text
  )
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true
  return (
    ts.canHaveModifiers(node) &&
    (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)
  )
}

function hasNamedExports(node: ts.ExportDeclaration): boolean {
  return node.exportClause !== undefined && ts.isNamedExports(node.exportClause)
}

function isProcessEnv(node: ts.Node): boolean {
  return (
    ts.isPropertyAccessExpression(node) &&
    node.name.text === 'env' &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === 'process'
  )
}

function isInComment(source: ts.SourceFile, position: number): boolean {
  let found = false
  const look = (ranges: readonly ts.CommentRange[] | undefined): void => {
    found ||= (ranges ?? []).some(({ pos, end }) => pos <= position && position < end)
  }
  const visit = (node: ts.Node): void => {
    look(ts.getLeadingCommentRanges(source.text, node.getFullStart()))
    look(ts.getTrailingCommentRanges(source.text, node.getEnd()))
    if (!found) ts.forEachChild(node, visit)
  }
  visit(source)
  look(ts.getLeadingCommentRanges(source.text, source.endOfFileToken.getFullStart()))
  return found
}
