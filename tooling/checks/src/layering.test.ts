import { describe, expect, it } from 'vitest'
import { findLayeringViolations, importsOf } from './layering.js'
import { PACKAGE_MAP } from './package-map.js'
import { readPackages, readTextFiles, type WorkspacePackage, workspaceRoot } from './workspace.js'

const pack = (
  name: string,
  dependencies: Record<string, string> = {},
  devDependencies: Record<string, string> = {},
): WorkspacePackage => ({
  name,
  folder: `packages/${name}`,
  manifest: {
    name,
    dependencies,
    devDependencies,
    exports: { '.': { default: './dist/index.js' }, './testing': { default: './dist/testing.js' } },
  },
})

describe('the workspace', () => {
  it('keeps to the package map', () => {
    const root = workspaceRoot()
    const packages = readPackages(root)
    const sources = packages.flatMap(({ folder }) =>
      readTextFiles(root, folder).filter(({ path }) => /\.[cm]?[jt]s$/.test(path)),
    )
    expect(sources.length).toBeGreaterThan(20)
    expect(findLayeringViolations({ packages, map: PACKAGE_MAP, sources })).toEqual([])
  })
})

describe('findLayeringViolations', () => {
  const low = pack('low')
  const high = pack('high', { low: 'workspace:^', zod: 'catalog:' }, { vitest: 'catalog:' })
  const map = { low: [], high: ['low'] }
  const check = (path: string, text: string) =>
    findLayeringViolations({ packages: [low, high], map, sources: [{ path, text }] })

  it('accepts what the map, the exports and the dependencies allow', () => {
    const text = [
      "import { a } from 'low'",
      "import { b } from 'low/testing'",
      "import { z } from 'zod'",
      "import { readFileSync } from 'node:fs'",
      "import type { c } from './deep/c.js'",
    ].join('\n')
    expect(check('packages/high/src/index.ts', text)).toEqual([])
  })

  it('refuses an import that points upwards', () => {
    expect(check('packages/low/src/a.ts', "import { x } from 'high'")).toEqual([
      "packages/low/src/a.ts: import of 'high' is not a package that low may import",
    ])
  })

  it.each([
    ["import { a } from 'low/dist/a.js'", 'is not among the exports of low'],
    ["import { a } from '../../low/src/a.js'", 'leaves the package'],
    ["import { readFileSync } from 'fs'", "is built in; write 'node:fs'"],
    ["import { it } from 'vitest'", 'is not in the dependencies of packages/high/package.json'],
    ["const a = await import('hono')", 'is not in the dependencies'],
    ["export { a } from 'hono/tiny'", 'is not in the dependencies'],
  ])('refuses %s', (text, why) => {
    const found = check('packages/high/src/a.ts', text)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(why)
  })

  it('lets tests use development dependencies', () => {
    expect(check('packages/high/src/a.test.ts', "import { it } from 'vitest'")).toEqual([])
  })

  it('refuses dependencies that the map does not allow, unpinned ones, and cycles', () => {
    const upwards = pack('low', { high: 'workspace:^', zod: '^4.0.0' })
    expect(
      findLayeringViolations({
        packages: [upwards, high],
        map: { low: ['other'], high: ['low'], other: ['low'] },
        sources: [],
      }),
    ).toEqual([
      'package map: other does not exist',
      'package map: low -> other -> low is a cycle',
      'packages/low/package.json: low may not depend on high',
      "packages/low/package.json: zod is '^4.0.0', expected 'catalog:'",
    ])
  })

  it('asks for a line for each package', () => {
    expect(findLayeringViolations({ packages: [low], map: {}, sources: [] })).toEqual([
      'packages/low: low has no line in the package map',
    ])
  })
})

describe('importsOf', () => {
  it('finds static, type-only, dynamic and re-exporting imports, and no text in strings', () => {
    const text = [
      "import type { A } from 'a'",
      "export { b } from 'b'",
      "const c = import('c')",
      'const text = "import x from \'d\'"',
    ].join('\n')
    expect(importsOf({ path: 'x.ts', text }).sort()).toEqual(['a', 'b', 'c'])
  })
})
