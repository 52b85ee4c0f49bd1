import { SEARCH_MODES } from 'crux-documents/settings'
import { z } from 'zod'
import type { CommandContext, CommandParser } from '../context.js'
import { passagesText, readPassages } from '../passages.js'

const fact = z.looseObject({
  fact_id: z.string(),
  entity: z.string(),
  key: z.string(),
  value: z.string(),
  version: z.int(),
  warning: z.string().optional(),
})
const recalled = z.looseObject({ facts: z.array(fact), total_tokens: z.int() })

/** Add `search`, `remember` and `recall`. */
export function addMemoryCommands(parser: CommandParser, context: CommandContext): CommandParser {
  return parser
    .command(
      'search <question..>',
      'Search documents and print the best passages',
      (command) =>
        command
          .positional('question', { type: 'string', array: true, demandOption: true })
          .option('tenant', { type: 'string', demandOption: true, describe: 'Whose documents' })
          .option('token-budget', { type: 'number', default: 1000, describe: 'Tokens of text' })
          .option('limit', { type: 'number', default: 10, describe: 'Most passages, 1 to 100' })
          .option('mode', {
            choices: SEARCH_MODES,
            default: 'auto' as const,
            describe: 'What ranks: words, vectors, or all together',
          }),
      async (argv) => {
        const { tenant, tokenBudget, limit, mode } = argv
        const found = await readPassages(
          { question: argv.question.join(' '), tenant, tokenBudget, limit, mode },
          context.client(argv),
        )
        if (argv.json) context.printJson(found)
        else context.print(passagesText(found))
      },
    )
    .command(
      'remember <entity> <key> <value>',
      'Store a fact; the same entity and key again makes a new version',
      (command) =>
        command
          .positional('entity', { type: 'string', demandOption: true })
          .positional('key', { type: 'string', demandOption: true })
          .positional('value', { type: 'string', demandOption: true }),
      async (argv) => {
        const { entity, key, value } = argv
        const body = JSON.stringify({ entity, key, value })
        const stored = await context
          .client(argv)
          .json({ method: 'PUT', path: '/v1/facts', body }, fact)
        if (argv.json) return context.printJson(stored)
        context.print(`stored ${stored.fact_id}, version ${stored.version}\n`)
        if (stored.warning !== undefined) context.print(`warning: ${stored.warning}\n`)
      },
    )
    .command(
      'recall <words..>',
      'Print facts that hold any of the words',
      (command) =>
        command
          .positional('words', { type: 'string', array: true, demandOption: true })
          .option('token-budget', { type: 'number', default: 1000, describe: 'Tokens of values' }),
      async (argv) => {
        const query = new URLSearchParams({
          query: argv.words.join(' '),
          token_budget: String(argv.tokenBudget),
        })
        const found = await context
          .client(argv)
          .json({ method: 'GET', path: `/v1/facts?${query}` }, recalled)
        if (argv.json) return context.printJson(found)
        const lines = found.facts.map(
          ({ entity, key, value, version }) => `[${entity}] ${key} = ${value} (v${version})\n`,
        )
        context.print(lines.join('') || 'no facts found\n')
      },
    )
}
