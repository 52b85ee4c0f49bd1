import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const manifestSchema = z.object({
  name: z.string(),
  type: z.string().optional(),
  private: z.boolean().optional(),
  sideEffects: z.boolean().optional(),
  description: z.string().optional(),
  license: z.string().optional(),
  files: z.array(z.string()).optional(),
  exports: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])).optional(),
  engines: z.record(z.string(), z.string()).optional(),
  scripts: z.record(z.string(), z.string()).optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  devDependencies: z.record(z.string(), z.string()).optional(),
})

/** The members of a `package.json` that the checks read. */
export type Manifest = z.output<typeof manifestSchema>

/** One package of the workspace. */
export interface WorkspacePackage {
  readonly name: string
  /** Path from the workspace root, with `/`, such as `packages/crux-types`. */
  readonly folder: string
  readonly manifest: Manifest
}

/** A file with its path from the workspace root, with `/`. */
export interface TextFile {
  readonly path: string
  readonly text: string
}

const PARENTS = ['packages', 'apps', 'tooling']

// What `.gitignore` names, and what holds no text of ours.
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', '.git', '.turbo', '.cache', 'coverage'])
// In a linked worktree `.git` is a file that holds a path of this machine.
const SKIPPED_FILES = new Set(['pnpm-lock.yaml', '.git'])
const TEXT_EXTENSIONS = new Set(
  '.ts .mts .js .mjs .json .jsonc .md .yaml .yml .env .sh .txt .html .css .svg'.split(' '),
)

/** Absolute path of the workspace root; works from sources and from `dist`. */
export function workspaceRoot(): string {
  return fileURLToPath(new URL('../../..', import.meta.url))
}

/** Parse the `package.json` of a folder. @throws {Error} when it is missing or malformed. */
export function readManifest(folder: string): Manifest {
  const path = join(folder, 'package.json')
  const parsed = manifestSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')))
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`)
  return parsed.data
}

/** Every package of the workspace that has a `package.json`, by folder. */
export function readPackages(root: string): WorkspacePackage[] {
  return PARENTS.flatMap((parent) =>
    readdirSync(join(root, parent))
      .sort()
      .map((name) => `${parent}/${name}`)
      .filter((folder) => existsSync(join(root, folder, 'package.json')))
      .map((folder) => {
        const manifest = readManifest(join(root, folder))
        return { name: manifest.name, folder, manifest }
      }),
  )
}

/**
 * Text files that are, or are about to be, part of the project: by extension, and files without
 * one such as `.ci/run`. Generated folders and the lockfile are left out.
 *
 * @param under - Folder from the root to start at; the whole workspace when absent.
 * @returns By path, ascending.
 */
export function readTextFiles(root: string, under = '.'): TextFile[] {
  const files: TextFile[] = []
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!SKIPPED_FOLDERS.has(entry.name)) visit(path)
      } else if (entry.isFile() && isText(entry.name)) {
        files.push({
          path: relative(root, path).split(sep).join('/'),
          text: readFileSync(path, 'utf8'),
        })
      }
    }
  }
  visit(join(root, under))
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function isText(name: string): boolean {
  if (SKIPPED_FILES.has(name)) return false
  const extension = extname(name)
  if (extension === '') return !basename(name).startsWith('.DS')
  return TEXT_EXTENSIONS.has(extension)
}
