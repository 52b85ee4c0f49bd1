// `npm run generate`: write every generated file anew.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from './generated-files.js'
import { workspaceRoot } from './workspace.js'

const root = workspaceRoot()
for (const { path, text } of generatedFiles()) {
  writeFileSync(join(root, path), text)
  process.stdout.write(`wrote ${path}\n`)
}
