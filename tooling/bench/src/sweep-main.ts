import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readCollection } from './read-collection.js'
import { sweepFusion } from './sweep.js'

// `node sweep-main.js [folder of the collections]` prints a Markdown table of fused ranking, with what
// ships and with each of its numbers changed alone.

const DEFAULT_DATA = fileURLToPath(new URL('../../../../shared/data', import.meta.url))
const NAMES = ['cranfield', 'cisi', 'locomo-dev']

const data = process.argv[2] ?? DEFAULT_DATA
const found = await Promise.all(
  NAMES.map(async (name) => ({ name, collection: await readCollection(join(data, name)) })),
)
const known = found.flatMap(({ name, collection }) =>
  collection === undefined ? [] : [{ name, collection }],
)
if (known.length === 0) {
  process.stdout.write(`No test collections in ${data}; name their folder.\n`)
} else {
  const names = known.map(({ name }) => `${name} nDCG@10 | recall@10`).join(' | ')
  process.stdout.write(`| Change | ${names} |\n| --- |${' ---: | ---: |'.repeat(known.length)}\n`)
  await sweepFusion(
    known.map(({ collection }) => collection),
    ({ change, grades }) => {
      const cells = grades.map(
        ({ ndcg10, recall10 }) => `${ndcg10.toFixed(4)} | ${recall10.toFixed(4)}`,
      )
      process.stdout.write(`| ${change === '' ? 'none' : change} | ${cells.join(' | ')} |\n`)
    },
  )
}
