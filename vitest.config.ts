import { existsSync, readdirSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

// Every workspace package with sources is one project. Packages are tested from their sources
// (condition `crux-source`), so no build is needed first; suites in `*.slow.test.ts` run only
// with CRUX_SLOW=1 and use the built daemon.
const slow = process.env.CRUX_SLOW === '1'
// Node.js itself knows no condition `module`, which bundlers take.
const conditions = ['crux-source', 'node', 'import', 'default']
const folders = ['packages', 'apps', 'tooling'].flatMap((parent) =>
  readdirSync(parent).map((name) => `${parent}/${name}`),
)

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    projects: folders
      .filter((folder) => existsSync(`${folder}/src`))
      .map((folder) => ({
        extends: true,
        root: folder,
        test: {
          name: folder.split('/')[1] ?? folder,
          include: [slow ? 'src/**/*.slow.test.ts' : 'src/**/*.test.ts'],
          exclude: slow ? [] : ['src/**/*.slow.test.ts'],
          passWithNoTests: true,
          testTimeout: slow ? 600_000 : 30_000,
        },
      })),
  },
})
