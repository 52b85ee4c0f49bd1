import { existsSync } from 'node:fs'
import { WORKSPACE_ROOT } from '../paths.js'

/** Where they are installed. */
export const NODE22_FOLDER = `${WORKSPACE_ROOT}tooling/e2e/node22`
const MINIMUM = [22, 19] as const

/** A program that needs a newer Node.js than the workspace does. */
export type Node22Program =
  | { readonly node: string; readonly script: string }
  | { readonly missing: string }

/**
 * Find a program of the folder `node22` and a Node.js that runs it.
 *
 * @param script - Path below `node22/node_modules`.
 */
export function findNode22Program(script: string): Node22Program {
  const path = `${NODE22_FOLDER}/node_modules/${script}`
  const node = [
    ...(isNewEnough(process.versions.node) ? [process.execPath] : []),
    `${NODE22_FOLDER}/node_modules/node-${process.platform}-${process.arch}/bin/node`,
  ].find((candidate) => existsSync(candidate))
  if (existsSync(path) && node !== undefined) return { node, script: path }
  return { missing: 'not installed: npm install --no-save --prefix tooling/e2e/node22' }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1])
}
