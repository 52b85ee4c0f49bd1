import { describe, expect, it } from 'vitest'
import { eagerImports } from './eager-imports.js'
import { readPackages, readTextFiles, workspaceRoot } from './workspace.js'

describe('eagerImports', () => {
  it('follows static imports through packages, and neither types nor what is loaded later', () => {
    const files = {
      'apps/a/src/main.ts': `
        import { readFile } from 'node:fs'
        import type { T } from 'typed'
        import { one } from './one.js'
        export const later = () => import('later')`,
      'apps/a/src/one.ts': "export { two } from 'low/part'\nexport type { U } from 'typed'",
      'packages/low/src/part.ts': "import 'effect'\nimport { type V } from 'kept'",
      'packages/low/src/index.ts': "import 'heavy'",
    }
    const low = {
      name: 'low',
      folder: 'packages/low',
      manifest: {
        name: 'low',
        exports: {
          '.': { 'crux-source': './src/index.ts' },
          './part': { 'crux-source': './src/part.ts' },
        },
      },
    }
    const sources = Object.entries(files).map(([path, text]) => ({ path, text }))
    const found = eagerImports('apps/a/src/main.ts', sources, [low])
    expect(found).toEqual(['effect', 'kept', 'low/part'])
    expect(() => eagerImports('apps/a/src/none.ts', sources, [low])).toThrow('is not there')
  })
})

// Clients start the relay each time they start, and people wait for a command line.
describe('the programs', () => {
  const root = workspaceRoot()
  const sources = readTextFiles(root).filter(({ path }) => path.endsWith('.ts'))
  const ofProgram = (name: string) =>
    eagerImports(`apps/daemon/src/${name}.ts`, sources, readPackages(root))

  it('load little before they know what they are to do', () => {
    const common = ['crux-mcp/protocol', 'crux-retrieval/settings', 'crux-types', 'zod']
    expect(ofProgram('corecruxd')).toEqual(common)
    expect(ofProgram('corecruxctl')).toEqual([...common, 'crux-documents/settings', 'yargs'].sort())
  })

  it('load little more for the relay', () => {
    expect(ofProgram('stdio/relay')).toEqual(['crux-mcp/protocol', 'crux-types', 'undici', 'zod'])
  })
})
