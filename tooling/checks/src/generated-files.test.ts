import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { generatedFiles } from './generated-files.js'
import { workspaceRoot } from './workspace.js'

const root = workspaceRoot()

describe('generated files', () => {
  it.each(generatedFiles())('$path is fresh; `npm run generate` writes it', ({ path, text }) => {
    const file = join(root, path)
    expect(existsSync(file) ? readFileSync(file, 'utf8') : 'missing').toBe(text)
  })
})
