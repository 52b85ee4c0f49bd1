#!/usr/bin/env node
import { existsSync } from 'node:fs'

const program = new URL('../dist/corecruxctl.js', import.meta.url)
if (existsSync(program)) {
  const { corecruxctl } = await import(program.href)
  process.exit(await corecruxctl(process))
}
process.stderr.write('corecruxctl: not built yet; run `npm run build` in the project first\n')
process.exit(78)
