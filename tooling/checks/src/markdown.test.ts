import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  codeBlocks,
  findBrokenLinks,
  findUnknownCommands,
  headingSlugs,
  linksOf,
} from './markdown.js'
import { readManifest, readTextFiles, workspaceRoot } from './workspace.js'

const root = workspaceRoot()
const documents = readTextFiles(root).filter(({ path }) => path.endsWith('.md'))

describe('Markdown of the workspace', () => {
  it('has no relative link that leads nowhere', () => {
    expect(documents.map(({ path }) => path)).toContain('README.md')
    expect(documents.flatMap((file) => findBrokenLinks(root, file))).toEqual([])
  })

  it('shows only commands that exist', () => {
    const scripts = readManifest(root).scripts ?? {}
    const exists = (path: string): boolean => existsSync(join(root, path))
    expect(documents.flatMap((file) => findUnknownCommands(file, scripts, exists))).toEqual([])
  })
})

describe('codeBlocks', () => {
  it('gives language, code and line, and takes inner fences as text', () => {
    const text = [
      'a',
      '```ts',
      'x()',
      '```',
      '````md',
      '```',
      'y',
      '```',
      '````',
      '```',
      '```',
    ].join('\n')
    expect(codeBlocks(text)).toEqual([
      { language: 'ts', code: 'x()', line: 2 },
      { language: 'md', code: '```\ny\n```', line: 5 },
      { language: '', code: '', line: 10 },
    ])
  })
})

describe('linksOf', () => {
  it('finds inline links, images and definitions, not those in code', () => {
    const text = [
      '[a](b.md) ![c](d.png "title") `[no](no.md)`',
      '```',
      '[no](no.md)',
      '```',
      '[ref]: e.md#f',
    ].join('\n')
    expect(linksOf(text)).toEqual([
      { target: 'b.md', line: 1 },
      { target: 'd.png', line: 1 },
      { target: 'e.md#f', line: 5 },
    ])
  })
})

describe('headingSlugs', () => {
  it('spells headings as hosts of Markdown do', () => {
    const text = '# A `b` & C\n## A\n## A\n## [Link](x.md), with 2.0!'
    expect([...headingSlugs(text)]).toEqual(['a-b--c', 'a', 'a-1', 'link-with-20'])
  })
})

describe('findBrokenLinks', () => {
  const check = (text: string) => findBrokenLinks(root, { path: 'docs/a.md', text })

  it.each(['[a](../package.json)', '[a](https://example.org/x)', '# B\n[a](#b)', '[a](formats/)'])(
    'accepts %j',
    (text) => {
      expect(check(text)).toEqual([])
    },
  )

  it.each([
    ['[a](missing.md)', 'leads to no file'],
    ['[a](../../x.md)', 'leaves the project'],
    ['[a](/etc/passwd)', 'leaves the project'],
    ['# B\n[a](#c)', 'leads to no heading'],
  ])('refuses %j', (text, why) => {
    expect(check(text)[0]).toContain(why)
  })
})

describe('findUnknownCommands', () => {
  const check = (command: string) =>
    findUnknownCommands(
      { path: 'a.md', text: `\`\`\`sh\n${command}\n\`\`\`` },
      { start: '', 'test:slow': '' },
      (path) => path === 'bin/a.js',
    )

  it.each(['npm start', '$ npm run test:slow', 'npm ci', 'node bin/a.js x', 'A=1 node bin/a.js'])(
    'accepts %s',
    (command) => {
      expect(check(command)).toEqual([])
    },
  )

  it.each(['npm run nothing', 'npm test', 'npx pnpm bench', 'node bin/b.js'])(
    'refuses %s',
    (command) => {
      expect(check(command)).toHaveLength(1)
    },
  )
})
