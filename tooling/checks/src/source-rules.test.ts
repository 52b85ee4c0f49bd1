import { describe, expect, it } from 'vitest'
import { findSourceViolations } from './source-rules.js'
import { readTextFiles, workspaceRoot } from './workspace.js'

const check = (text: string, path = 'packages/crux-types/src/a.ts') =>
  findSourceViolations({ path, text }).map((found) => found.slice(path.length))

describe('sources of the workspace', () => {
  it('keep to the rules', () => {
    const sources = readTextFiles(workspaceRoot()).filter(({ path }) => /\.[cm]?[jt]s$/.test(path))
    expect(sources.length).toBeGreaterThan(40)
    expect(sources.flatMap(findSourceViolations)).toEqual([])
  })
})

describe('findSourceViolations', () => {
  it.each([
    ['const a: any = 1', ":1: uses the type 'any'"],
    ['const a = b as unknown as any[]', ":1: uses the type 'any'"],
    ['const a = b!', ":1: uses a non-null assertion '!'"],
    ['const a = 1\nexport default a', ':2: has a default export'],
    ['export default function f() {}', ':1: has a default export'],
    ["export * from './b.js'", ":1: exports '*'; list the names"],
    ["export * as b from './b.js'", ":1: exports '*'; list the names"],
    ['export function f() {}', ':1: is exported without a docstring'],
    ['// A comment is none.\nexport class C {}', ':2: is exported without a docstring'],
    [
      'const a = process.env.HOME',
      ':1: reads process.env outside the configuration; take the value as a parameter',
    ],
    [`// @ts-${'ignore'}\nconst a = 1`, ':1: switches the compiler off; mend the type'],
    [
      `// biome-${'ignore'} lint/suspicious/noExplicitAny: because\nconst a = 1`,
      ':1: switches off a rule that has no exceptions',
    ],
  ])('finds %j', (text, expected) => {
    expect(check(text)).toEqual([expected])
  })

  it('leaves alone what only looks like it', () => {
    const text = [
      'const any = { env: 1 }',
      "const text = 'export default process.env'",
      'const a = !any.env',
      'export const b = a !== undefined',
      'export interface Options { readonly a: string }',
      '/** One. */',
      'export function f(a: string): void',
      'export function f(a: number): void',
      'export function f(): void {}',
    ].join('\n')
    expect(check(text)).toEqual([])
  })

  it('lets test support use any, with the reason that the linter asks for', () => {
    const text = `// biome-${'ignore'} lint/suspicious/noExplicitAny: looks into answers\nlet a: any`
    expect(check(text, 'packages/crux-mcp/src/testing/a.ts')).toEqual([])
    expect(check(text)).toHaveLength(2)
  })

  it('lets the configuration of the daemon read the environment', () => {
    expect(check('const a = process.env', 'apps/daemon/src/config/load.ts')).toEqual([])
  })
})
