import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeBlocks, readPackages } from 'crux-checks'
import ts from 'typescript'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runNode } from './child.js'
import { WORKSPACE_ROOT } from './paths.js'
import { createSandbox } from './sandbox.js'

const packages = readPackages(WORKSPACE_ROOT)
  .map(({ folder }) => folder)
  .filter((folder) => existsSync(join(WORKSPACE_ROOT, folder, 'README.md')))

describe('README code of the packages, against the build', () => {
  it.each(packages)('%s runs as printed', async (folder) => {
    const root = join(WORKSPACE_ROOT, folder)
    const markdown = await readFile(join(root, 'README.md'), 'utf8')
    const blocks = codeBlocks(markdown).filter(({ language }) => language === 'ts')
    const box = await createSandbox()
    // Inside the package, so that its own name and its dependencies resolve.
    const scripts = join(root, '.cache', 'readme')
    await mkdir(scripts, { recursive: true })
    onTestFinished(async () => {
      await rm(scripts, { recursive: true, force: true })
      await box.close()
    })
    for (const { code, line } of blocks) {
      const script = join(scripts, `line-${line}.mjs`)
      const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 }
      await writeFile(script, ts.transpileModule(code, { compilerOptions }).outputText)
      const done = await runNode(script, [], { cwd: box.dir, env: box.environment() })
      expect(done.code, `README.md:${line}: ${done.stderr}`).toBe(0)
    }
  })
})
