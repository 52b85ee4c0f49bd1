import { createInterface } from 'node:readline'
import { CruxError, parseTime, systemClock } from 'crux-types'
import { z } from 'zod'
import type { DaemonErrorCode } from '../../errors.js'
import type { DaemonClient } from '../client.js'
import type { CommandContext, CommandParser } from '../context.js'

const forget = z.looseObject({
  receipt_id: z.string(),
  passport_id: z.string(),
  scope: z.string(),
  reason: z.string().nullable(),
  fact_ids: z.array(z.string()),
  forgotten_at: z.string(),
  recovery_window_ends_at: z.string(),
  status: z.string(),
  ended_at: z.string().nullable(),
})
const forgets = z.looseObject({ forgets: z.array(forget) })
const purged = z.looseObject({
  purge_receipt_id: z.string(),
  source_forget_receipt_id: z.string(),
  purged_fact_ids: z.array(z.string()),
})

/** Add `memory forgotten`, `memory restore` and `memory purge`. */
export function addForgetCommands(parser: CommandParser, context: CommandContext): CommandParser {
  return parser.command('memory', 'See, undo and purge what was forgotten', (command) =>
    command
      .command(
        'forgotten',
        'Print what was forgotten, oldest first',
        (inner) => inner,
        async (argv) => {
          const found = await listForgets(context.client(argv))
          if (argv.json) return context.printJson(found)
          context.print(found.forgets.map(forgetLine).join('') || 'nothing was forgotten\n')
        },
      )
      .command(
        'restore <receipt>',
        'Bring back what a receipt forgot',
        (inner) => inner.positional('receipt', { type: 'string', demandOption: true }),
        async (argv) => {
          const restored = await context
            .client(argv)
            .json({ method: 'POST', path: forgetPath(argv.receipt, 'restore') }, forget)
          if (argv.json) return context.printJson(restored)
          context.print(`restored ${restored.fact_ids.length} facts of ${argv.receipt}\n`)
        },
      )
      .command(
        'purge',
        'Take forgotten values off the disk: all whose window has ended, or those of one receipt',
        (inner) =>
          inner.option('receipt', { type: 'string', describe: 'Only this one' }).option('now', {
            type: 'boolean',
            describe: 'Before its window ends; asks for the receipt id on standard input',
            implies: 'receipt',
          }),
        async (argv) => {
          const client = context.client(argv)
          const confirm =
            argv.now === true ? await typedReceipt(context, argv.receipt ?? '') : undefined
          const receipts = argv.receipt === undefined ? await dueReceipts(client) : [argv.receipt]
          const done: z.output<typeof purged>[] = []
          for (const receipt of receipts) {
            const body = JSON.stringify(confirm === undefined ? {} : { now: true, confirm })
            const path = forgetPath(receipt, 'purge')
            done.push(await client.json({ method: 'POST', path, body }, purged))
          }
          if (argv.json) return context.printJson({ purged: done })
          const lines = done.map(
            (one) =>
              `purged ${one.purged_fact_ids.length} facts of ${one.source_forget_receipt_id}, receipt ${one.purge_receipt_id}\n`,
          )
          context.print(lines.join('') || 'nothing is due\n')
        },
      )
      .demandCommand(1, 'memory: name what to do: forgotten, restore or purge'),
  )
}

function listForgets(client: DaemonClient): Promise<z.output<typeof forgets>> {
  return client.json({ method: 'GET', path: '/v1/memory/forgets' }, forgets)
}

async function dueReceipts(client: DaemonClient): Promise<string[]> {
  const found = await listForgets(client)
  return found.forgets
    .filter(({ status }) => status === 'forgotten')
    .filter(({ recovery_window_ends_at: end }) => (parseTime(end) ?? 0) <= systemClock.now())
    .map(({ receipt_id }) => receipt_id)
}

function forgetPath(receipt: string, action: string): string {
  return `/v1/memory/forgets/${encodeURIComponent(receipt)}/${action}`
}

/** The receipt id as typed: nothing brings the values back, so a slip must not be enough. */
async function typedReceipt({ proc }: CommandContext, receipt: string): Promise<string> {
  proc.stderr.write(`this cannot be undone; type ${receipt} to go on: `)
  const lines = createInterface({ input: proc.stdin })
  try {
    for await (const line of lines) {
      if (line.trim() === receipt) return receipt
      break
    }
  } finally {
    lines.close()
  }
  throw new CruxError<DaemonErrorCode>(
    'NOT_CONFIRMED',
    `nothing was purged: standard input did not say ${receipt}`,
  )
}

function forgetLine(one: z.output<typeof forget>): string {
  const state =
    one.status === 'forgotten'
      ? `can be restored until ${one.recovery_window_ends_at}`
      : `${one.status} ${one.ended_at}`
  const why = one.reason === null ? '' : ` (${one.reason})`
  return `${one.receipt_id} ${one.fact_ids.length} facts, ${one.scope}, by ${one.passport_id} at ${one.forgotten_at}${why}: ${state}\n`
}
