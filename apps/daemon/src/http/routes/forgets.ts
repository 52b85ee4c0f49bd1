import type { ListedForget } from 'crux-memory'
import { z } from 'zod'
import type { HttpDependencies } from '../dependencies.js'
import { ProblemError } from '../problem.js'
import { defineRoute, type Route } from '../route.js'

const READ = ['admin:read', 'admin:write', 'facts:read']
const WRITE = ['admin:write', 'facts:write']

const forgetSchema = z.object({
  receipt_id: z.string(),
  tenant_id: z.string(),
  passport_id: z.string().describe('Who forgot.'),
  scope: z.string().describe('<type>:<value>; the value is gone when it repeated a purged one.'),
  reason: z.string().nullable(),
  fact_ids: z.array(z.string()),
  derived_fact_ids: z.array(z.string()).describe('Records of the daemon that quoted them.'),
  copies: z.array(z.object({ kind: z.string(), id: z.string() })),
  forgotten_at: z.string().describe('RFC 3339 in UTC.'),
  recovery_window_ends_at: z.string(),
  status: z.enum(['forgotten', 'restored', 'purged']),
  ended_at: z.string().nullable().describe('When it was restored or purged.'),
  purge_receipt_id: z.string().nullable(),
  erased: z.boolean().describe('Whether the values have left the disk.'),
})

const purgeBody = z.object({
  now: z.boolean().default(false).describe('Before the window ends, too; for admin:write.'),
  confirm: z.string().optional().describe('The receipt id once more; needed with now.'),
})

const purgeSchema = z.object({
  purge_receipt_id: z.string(),
  source_forget_receipt_id: z.string(),
  tenant_id: z.string(),
  purged_fact_ids: z.array(z.string()),
  purged_at: z.string(),
  receipt_body_cbor_hex: z.string(),
  receipt_body_hash_hex: z.string().describe('BLAKE3 of the body.'),
})

/** What was forgotten: list it, undo it, purge it. */
export function forgetRoutes({ services }: Pick<HttpDependencies, 'services'>): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/memory/forgets',
      summary:
        'What was forgotten in the tenant, oldest first: the own, and all with an admin scope.',
      access: READ,
      replies: {
        200: {
          description: 'Receipts without any value.',
          schema: z.object({ forgets: z.array(forgetSchema) }),
        },
      },
      async run(_, { reader }) {
        const forgets = await services.facts.forgetting.list(reader())
        return { status: 200, json: { forgets: forgets.map(shown) } }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/memory/forgets/{receiptId}/restore',
      summary: 'Bring everything back that a receipt forgot, while its window is open.',
      access: WRITE,
      replies: { 200: { description: 'The receipt, at its end.', schema: forgetSchema } },
      async run({ params }, { reader }) {
        const receiptId = params.receiptId ?? ''
        const entry = await services.facts.forgetting.restore(reader(), receiptId)
        if (entry === undefined) throw unknownReceipt(receiptId)
        return { status: 200, json: shown({ ...entry, isErased: false }) }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/memory/forgets/{receiptId}/purge',
      summary: 'Take the values of a receipt off the disk, for good.',
      access: WRITE,
      isLong: true,
      body: purgeBody,
      replies: { 200: { description: 'The receipt of the purge.', schema: purgeSchema } },
      async run({ params, body }, { reader }) {
        const receiptId = params.receiptId ?? ''
        if (body.now && body.confirm !== receiptId) {
          throw new ProblemError(
            'bad-request',
            'confirm: a purge before the window ends needs the receipt id once more, since nothing brings the values back',
          )
        }
        const { forgetting } = services.facts
        const done = await forgetting.purge(reader(), receiptId, { isNow: body.now })
        if (done === undefined) throw unknownReceipt(receiptId)
        return {
          status: 200,
          json: {
            purge_receipt_id: done.receiptId,
            source_forget_receipt_id: done.forgetReceiptId,
            tenant_id: done.tenant,
            purged_fact_ids: done.factIds,
            purged_at: done.purgedAt,
            receipt_body_cbor_hex: Buffer.from(done.body).toString('hex'),
            receipt_body_hash_hex: Buffer.from(done.bodyHash).toString('hex'),
          },
        }
      },
    }),
  ]
}

function shown(entry: ListedForget): z.output<typeof forgetSchema> {
  return {
    receipt_id: entry.receiptId,
    tenant_id: entry.tenant,
    passport_id: entry.passportId,
    scope: entry.scope,
    reason: entry.reason,
    fact_ids: [...entry.factIds],
    derived_fact_ids: [...entry.derivedFactIds],
    copies: [...entry.copies],
    forgotten_at: entry.forgottenAt,
    recovery_window_ends_at: entry.windowEnd,
    status: entry.status,
    ended_at: entry.endedAt,
    purge_receipt_id: entry.purgeReceiptId,
    erased: entry.isErased,
  }
}

function unknownReceipt(receiptId: string): ProblemError {
  return new ProblemError('not-found', `forget receipt '${receiptId}' not found`)
}
