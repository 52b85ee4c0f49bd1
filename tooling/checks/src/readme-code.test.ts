import { describe, expect, it } from 'vitest'
import { codeBlocks } from './markdown.js'
import { typecheckReadmeCode } from './readme-code.js'
import { readTextFiles, workspaceRoot } from './workspace.js'

const root = workspaceRoot()

describe('README code of the packages', () => {
  it('exists for each package that others build on, and compiles', () => {
    const readmes = readTextFiles(root, 'packages')
      .filter(({ path }) => /^packages\/[^/]+\/README\.md$/.test(path))
      .map(({ path, text }) => ({ folder: path.replace('/README.md', ''), markdown: text }))
    expect(readmes.length).toBeGreaterThan(0)
    for (const { folder, markdown } of readmes) {
      const blocks = codeBlocks(markdown).filter(({ language }) => language === 'ts')
      expect(blocks.length, `${folder}/README.md shows no use in a ts block`).toBeGreaterThan(0)
    }
    expect(typecheckReadmeCode(root, readmes)).toEqual([])
  })
})

describe('typecheckReadmeCode', () => {
  it('reports errors of types and syntax at their line', () => {
    const markdown = [
      '# x',
      '```ts',
      "import { storeTokens } from 'crux-types'",
      'const n: string = storeTokens(1)',
      '```',
    ].join('\n')
    const found = typecheckReadmeCode(root, [{ folder: 'packages/crux-types', markdown }])
    expect(found).toHaveLength(2)
    for (const line of found) expect(line).toMatch(/^packages\/crux-types\/README\.md:4: /)
  })

  it('accepts code that awaits and uses the package by its name', () => {
    const markdown = [
      '```ts',
      "import { createPauser } from 'crux-types'",
      'await createPauser()()',
      '```',
    ].join('\n')
    expect(typecheckReadmeCode(root, [{ folder: 'packages/crux-types', markdown }])).toEqual([])
  })
})
