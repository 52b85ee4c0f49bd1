import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SHARED_SETTINGS } from './package-map.js'
import type { WorkspacePackage } from './workspace.js'

/**
 * What a package lacks of the common shape, one sentence each: README, licence, description,
 * engine, ESM without side effects, exports listed by hand that lead to sources and to `dist`,
 * and the pair of tsconfig files. The package of compiler settings has no code and is exempt.
 *
 * @param root - Absolute path of the workspace.
 */
export function findShapeViolations(root: string, one: WorkspacePackage): string[] {
  if (one.name === SHARED_SETTINGS) return []
  const { folder, manifest } = one
  const violations: string[] = []
  const expect = (holds: boolean, what: string): void => {
    if (!holds) violations.push(`${folder}: ${what}`)
  }
  const has = (path: string): boolean => existsSync(join(root, folder, path))

  for (const path of ['README.md', 'tsconfig.json', 'tsconfig.build.json', 'src/index.ts']) {
    expect(has(path), `${path} is missing`)
  }
  expect(one.name === folder.split('/')[1] || isRenamed(one), `is named ${one.name}`)
  expect(manifest.type === 'module', "package.json needs type 'module'")
  expect(manifest.sideEffects === false, 'package.json needs sideEffects false')
  expect(manifest.license === 'Apache-2.0', 'package.json needs the licence Apache-2.0')
  expect((manifest.description ?? '') !== '', 'package.json needs a description')
  expect(manifest.engines?.node === '>=20.19', "package.json needs engines.node '>=20.19'")
  for (const script of ['build', 'typecheck', 'test']) {
    expect(manifest.scripts?.[script] !== undefined, `package.json needs a script '${script}'`)
  }
  const exported = Object.entries(manifest.exports ?? {})
  expect(manifest.exports?.['.'] !== undefined, "package.json exports no '.'")
  for (const [subpath, target] of exported) {
    expect(!subpath.includes('*'), `export '${subpath}' is a pattern; list the names`)
    if (typeof target === 'string') {
      expect(false, `export '${subpath}' needs the conditions crux-source, types and default`)
      continue
    }
    const source = target['crux-source']
    expect(source !== undefined && has(source), `export '${subpath}' leads to no source file`)
    const stem = source?.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '')
    expect(target.types === `${stem}.d.ts`, `export '${subpath}': types is not ${stem}.d.ts`)
    expect(target.default === `${stem}.js`, `export '${subpath}': default is not ${stem}.js`)
  }
  return violations
}

// Applications and tools carry the project's name in front of their folder's.
function isRenamed(one: WorkspacePackage): boolean {
  const [parent, name] = one.folder.split('/')
  return parent !== 'packages' && one.name === `crux-${name}`
}
