import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { configurationPage, exampleEnv, exampleYaml } from 'crux-daemon'
import { tools } from 'crux-mcp'
import { toolsPage } from './tools-page.js'

/** A committed file whose text follows from the sources. */
export interface GeneratedFile {
  /** From the workspace root. */
  readonly path: string
  readonly text: string
}

/**
 * Every generated file as it ought to be, formatted as the workspace formats it.
 *
 * @param root - Absolute path of the workspace, whose formatter is used.
 */
export function generatedFiles(root: string): GeneratedFile[] {
  const files: GeneratedFile[] = [
    { path: 'config.example.env', text: exampleEnv() },
    { path: 'config.example.yaml', text: exampleYaml() },
    { path: 'docs/configuration.md', text: configurationPage() },
    { path: 'docs/tools.md', text: toolsPage(tools) },
  ]
  return files.map(({ path, text }) => ({ path, text: format(root, path, text) }))
}

function format(root: string, path: string, text: string): string {
  if (!/\.(?:md|yaml)$/.test(path)) return text
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  return execFileSync(process.execPath, [biome, 'format', `--stdin-file-path=${path}`], {
    cwd: root,
    input: text,
    encoding: 'utf8',
  })
}
