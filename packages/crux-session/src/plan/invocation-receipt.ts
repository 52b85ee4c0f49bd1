import { blake3 } from '@noble/hashes/blake3.js'
import { z } from 'zod'
import { canonicalCbor, hex } from './canonical.js'
import type { SessionPlan } from './plan-shape.js'

const bytes = (length: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9a-fA-F]{${2 * length}}$`), `expected ${length} bytes as hex`)
    .transform((text): Uint8Array => new Uint8Array(Buffer.from(text, 'hex')))
const whole = z.int().min(0)

/** What a client writes down about one use of a capability; bytes as hex. */
export const invocationReceiptSchema = z.object({
  receipt_version: z.literal(1).default(1),
  invocation_id: bytes(16),
  session_id: bytes(16),
  parent_plan_receipt_hash: bytes(32),
  capability: z.string().max(256),
  channel: z.enum(['bulk', 'mcp']),
  invoked_at: whole.describe('Milliseconds since 1970.'),
  completed_at: whole.describe('Milliseconds since 1970.'),
  input_hash: bytes(32),
  output_hash: bytes(32),
  outcome: z.enum(['ok', 'error', 'partial']),
  cost_crux: whole.nullable().default(null).describe('Credits; of the hosted platform only.'),
  receipt_hash: bytes(32),
  receipt_signature: bytes(64).nullable().default(null),
  signer_kid: z.string().max(256).nullable().default(null),
})

export type InvocationReceipt = z.output<typeof invocationReceiptSchema>

/** What a receipt is worth. */
export interface InvocationVerdict {
  /** All three of the following. */
  readonly verified: boolean
  /** Its own hash is right, and it names the plan of its session. */
  readonly integrity_ok: boolean
  /** The plan has the capability. */
  readonly capability_ok: boolean
  /** It went over a channel that the plan allows. */
  readonly channel_ok: boolean
  readonly governance_faults: readonly string[]
  readonly parent_plan_found: boolean
  readonly parent_plan_principal_id: string | null
}

/**
 * The hash of a receipt: over all of it, with the hash itself as zeros and without its signature.
 *
 * @returns 32 bytes.
 */
export function hashInvocation(receipt: InvocationReceipt): Uint8Array {
  return blake3(
    canonicalCbor({
      ...receipt,
      receipt_hash: new Uint8Array(32),
      receipt_signature: null,
      signer_kid: null,
    }),
  )
}

/**
 * Hold a receipt against the plan of its session. What is wrong is named, never refused.
 *
 * @param plan - Undefined when no plan of that session is known; then nothing but the hash can be right.
 */
export function verifyInvocation(
  receipt: InvocationReceipt,
  plan: SessionPlan | undefined,
): InvocationVerdict {
  const faults: string[] = []
  const isWhole = hex(hashInvocation(receipt)) === hex(receipt.receipt_hash)
  if (!isWhole) faults.push('receipt_hash_mismatch')
  const namesPlan =
    plan !== undefined && hex(plan.receipt.hash) === hex(receipt.parent_plan_receipt_hash)
  if (!namesPlan) faults.push('parent_plan_receipt_hash_mismatch')
  const { capability, channel } = receipt
  const node = plan?.capability_graph.nodes.find(({ cap }) => cap === capability)
  if (node === undefined) faults.push(`capability_not_in_graph:${capability}`)
  const hasChannel = node !== undefined && (channel === node.prefer || channel === 'mcp')
  if (node !== undefined && !hasChannel) {
    faults.push(`channel_mismatch:expected=${node.prefer}_got=${channel}`)
  }
  const integrity = isWhole && namesPlan
  return {
    verified: integrity && node !== undefined && hasChannel,
    integrity_ok: integrity,
    capability_ok: node !== undefined,
    channel_ok: hasChannel,
    governance_faults: faults,
    parent_plan_found: plan !== undefined,
    parent_plan_principal_id: plan?.passport.principal_id ?? null,
  }
}
