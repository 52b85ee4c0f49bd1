#!/usr/bin/env node
import { existsSync } from 'node:fs'

const program = new URL('../dist/corecruxd.js', import.meta.url)
if (existsSync(program)) {
  const { corecruxd } = await import(program.href)
  process.exit(await corecruxd(process))
}
process.stderr.write('corecruxd: not built yet; run `npm run build` in the project first\n')
process.exit(78)
