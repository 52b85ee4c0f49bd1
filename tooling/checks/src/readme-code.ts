import { join } from 'node:path'
import ts from 'typescript'
import { codeBlocks } from './markdown.js'

/** A package whose README is checked. */
export interface ReadmeSource {
  /** From the workspace root, such as `packages/crux-types`. */
  readonly folder: string
  readonly markdown: string
}

/**
 * Typecheck every `ts` block of the given README files against the packages' sources, each block
 * as one module of its package.
 *
 * @param root - Absolute path of the workspace.
 * @returns One sentence per error, with the line of the README.
 */
export function typecheckReadmeCode(root: string, readmes: readonly ReadmeSource[]): string[] {
  const modules = new Map<string, { readme: string; line: number; code: string }>()
  for (const { folder, markdown } of readmes) {
    for (const block of codeBlocks(markdown).filter(({ language }) => language === 'ts')) {
      // In the package's folder, so that its own name and its dependencies resolve.
      const path = join(root, folder, `readme-line-${block.line}.ts`)
      // An empty export makes a module of it, so that it may await.
      const code = `${block.code}\nexport {}\n`
      modules.set(path, { readme: `${folder}/README.md`, line: block.line, code })
    }
  }
  if (modules.size === 0) return []
  const options = compilerOptions(root)
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (path) => modules.has(path) || fileExists.call(host, path)
  host.readFile = (path) => modules.get(path)?.code ?? readFile.call(host, path)
  host.getSourceFile = (path, language, ...rest) => {
    const found = modules.get(path)
    return found === undefined
      ? getSourceFile.call(host, path, language, ...rest)
      : ts.createSourceFile(path, found.code, language, true)
  }
  const program = ts.createProgram([...modules.keys()], options, host)
  return [...modules].flatMap(([path, { readme, line }]) => {
    const source = program.getSourceFile(path)
    if (source === undefined) return [`${readme}:${line}: not read by the compiler`]
    return [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ].map(({ start, messageText }) => {
      const within = source.getLineAndCharacterOfPosition(start ?? 0).line
      const text = ts.flattenDiagnosticMessageText(messageText, ' ')
      return `${readme}:${line + 1 + within}: ${text}`
    })
  })
}

function compilerOptions(root: string): ts.CompilerOptions {
  const path = join(root, 'tooling/tsconfig/check.json')
  const { config } = ts.readConfigFile(path, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, join(root, 'tooling/tsconfig'))
  return {
    ...options,
    noEmit: true,
    // An example may keep a value that the reader is to use.
    noUnusedLocals: false,
    types: ['node'],
    typeRoots: [join(root, 'tooling/checks/node_modules/@types')],
  }
}
