import { describe, expect, it } from 'vitest'
import { findShapeViolations } from './package-shape.js'
import { readPackages, workspaceRoot } from './workspace.js'

const root = workspaceRoot()

describe('packages of the workspace', () => {
  it.each(readPackages(root).map((one) => [one.folder, one] as const))(
    '%s has the common shape',
    (_, one) => {
      expect(findShapeViolations(root, one)).toEqual([])
    },
  )
})

describe('findShapeViolations', () => {
  it('names what a package lacks', () => {
    const found = findShapeViolations(root, {
      name: 'crux-nothing',
      folder: 'packages/nothing',
      manifest: {
        name: 'crux-nothing',
        type: 'commonjs',
        exports: { './*': './dist/*.js', './a': { 'crux-source': './src/a.ts', types: 'x' } },
      },
    })
    for (const part of [
      'README.md is missing',
      'is named crux-nothing',
      "type 'module'",
      "exports no '.'",
      "export './*' is a pattern",
      "export './a' leads to no source file",
      "export './a': types is not",
      "a script 'typecheck'",
    ]) {
      expect(found.join('\n')).toContain(part)
    }
  })
})
