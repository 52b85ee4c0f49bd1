// `npm run build`: set up and build, then end.
import { prepare } from './workspace.mjs'

await prepare({ quiet: process.argv.includes('--quiet') })
