import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { formatFigures, measureVectors, type VectorFigures } from './measure-vectors.js'
import { clusteredVectors, hashedTexts } from './vector-sets.js'

// `node dist/ann/main.js [--vectors N] [--queries N] [--candidates N]`: recall and time of the
// approximate vector search beside the exact one.

const { values } = parseArgs({
  options: {
    vectors: { type: 'string', default: '200000' },
    queries: { type: 'string', default: '100' },
    candidates: { type: 'string' },
  },
})
const count = wholeNumber('vectors', values.vectors)
const queries = wholeNumber('queries', values.queries)
const candidates =
  values.candidates === undefined ? undefined : wholeNumber('candidates', values.candidates)

process.stdout.write(
  `Machine: ${cpus().length} x ${cpus()[0]?.model ?? 'unknown processor'}; Node.js ${process.versions.node}.\n\n`,
)
const figures: VectorFigures[] = []
// One set after the other, so that only one is in memory.
for (const make of [hashedTexts, clusteredVectors]) {
  process.stderr.write(`measuring ${make.name} ...\n`)
  figures.push(await measureVectors(await make(count, queries), { candidates }))
}
process.stdout.write(formatFigures(figures))

function wholeNumber(name: string, value: string): number {
  const number = Number(value)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new RangeError(`--${name}: expected a whole number above 0, got ${value}`)
}
