import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where the sources of the index kernel are, from the workspace root. */
export const KERNEL_SOURCES = 'packages/crux-retrieval/kernel'
/** The module that holds the compiled kernel, from the workspace root. */
export const KERNEL_MODULE = 'packages/crux-retrieval/src/kernel/kernel-bytes.ts'

// No garbage collector and no run-time checks: the kernel has an arena and no objects. -O3 gives
// twice the code, which runs hardly faster and keeps the engine's compiler busy far longer.
const OPTIONS = ['--runtime', 'stub', '-O2', '--noAssert']

/**
 * Text of the module that holds the compiled index kernel. The compiler gives the same bytes for
 * the same sources. Takes some seconds.
 *
 * @param root - Absolute path of the workspace.
 * @throws {Error} When the kernel does not compile; stderr says why.
 */
export function kernelModule(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'crux-kernel-'))
  try {
    const compiler = fileURLToPath(import.meta.resolve('assemblyscript/bin/asc.js'))
    const output = join(folder, 'kernel.wasm')
    const sources = join(root, KERNEL_SOURCES)
    execFileSync(
      process.execPath,
      [compiler, join(sources, 'index.ts'), '--outFile', output, ...OPTIONS],
      { cwd: sources, stdio: ['ignore', 'ignore', 'inherit'] },
    )
    return moduleText(readFileSync(output))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function moduleText(bytes: Buffer): string {
  return `// Written by \`npm run generate\` from the sources in \`kernel/\`.

/** The compiled index kernel. */
export const KERNEL_BASE64 =
  '${bytes.toString('base64')}'
`
}
