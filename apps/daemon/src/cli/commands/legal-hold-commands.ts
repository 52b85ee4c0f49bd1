import { z } from 'zod'
import type { CommandContext, CommandParser } from '../context.js'

const hold = z.looseObject({
  hold_id: z.string(),
  tenant_id: z.string(),
  entity_prefixes: z.array(z.string()),
  reason: z.string(),
  placed_at: z.string(),
  placed_by: z.string(),
  released_at: z.string().optional(),
})
const change = z.looseObject({ hold, receipt: z.looseObject({ receipt_id: z.string() }) })
const holds = z.looseObject({ holds: z.array(hold) })

/** Add `legal-hold place`, `release` and `list`. */
export function addLegalHoldCommands(
  parser: CommandParser,
  context: CommandContext,
): CommandParser {
  return parser.command('legal-hold', 'Keep facts from being forgotten', (command) =>
    command
      .command(
        'place <tenant>',
        'Hold facts of a tenant',
        (inner) =>
          inner
            .positional('tenant', { type: 'string', demandOption: true })
            .option('reason', { type: 'string', demandOption: true, describe: 'Why' })
            .option('entity-prefix', {
              type: 'string',
              array: true,
              default: [] as string[],
              describe: 'Only facts whose entity starts with it; may be given several times',
            })
            .option('actor', { type: 'string', describe: 'Who says so' }),
        async (argv) => {
          const body = JSON.stringify({
            tenant_id: argv.tenant,
            entity_prefixes: argv.entityPrefix,
            reason: argv.reason,
            ...(argv.actor === undefined ? {} : { actor: argv.actor }),
          })
          const placed = await context
            .client(argv)
            .json({ method: 'POST', path: '/v1/legal-holds', body }, change)
          if (argv.json) return context.printJson(placed)
          const { hold_id } = placed.hold
          context.print(`placed ${hold_id}, receipt ${placed.receipt.receipt_id}\n`)
        },
      )
      .command(
        'release <hold>',
        'Release a hold; it stays on record',
        (inner) =>
          inner
            .positional('hold', { type: 'string', demandOption: true })
            .option('reason', { type: 'string', describe: 'Why' })
            .option('actor', { type: 'string', describe: 'Who says so' }),
        async (argv) => {
          const query = new URLSearchParams({
            ...(argv.reason === undefined ? {} : { reason: argv.reason }),
            ...(argv.actor === undefined ? {} : { actor: argv.actor }),
          })
          const path = `/v1/legal-holds/${encodeURIComponent(argv.hold)}?${query}`
          const released = await context.client(argv).json({ method: 'DELETE', path }, change)
          if (argv.json) return context.printJson(released)
          context.print(`released ${argv.hold}, receipt ${released.receipt.receipt_id}\n`)
        },
      )
      .command(
        'list',
        'Print holds, released ones included',
        (inner) => inner,
        async (argv) => {
          const found = await context
            .client(argv)
            .json({ method: 'GET', path: '/v1/legal-holds' }, holds)
          if (argv.json) return context.printJson(found)
          context.print(found.holds.map(holdLine).join('') || 'no legal holds\n')
        },
      )
      .demandCommand(1, 'legal-hold: name what to do: place, release or list'),
  )
}

function holdLine(one: z.output<typeof hold>): string {
  const covers = one.entity_prefixes.length === 0 ? 'everything' : one.entity_prefixes.join(', ')
  const state = one.released_at === undefined ? 'in force' : `released ${one.released_at}`
  return `${one.hold_id} ${state}: ${covers} in tenant ${one.tenant_id} since ${one.placed_at} by ${one.placed_by} (${one.reason})\n`
}
