import { randomBytes } from 'node:crypto'
import type { Journal, JournalRecord, Position } from 'crux-storage'
import { type Caller, type Clock, messageOf, requireWriter } from 'crux-types'
import { z } from 'zod'
import { canonicalJson, decodeCbor, hex } from './canonical.js'
import {
  type InvocationReceipt,
  type InvocationVerdict,
  verifyInvocation,
} from './invocation-receipt.js'
import { type SessionPlan, sessionPlanSchema } from './plan-shape.js'
import { type LocalPlanContext, mintLocalPlan, type PlanHints, planToCbor } from './session-plan.js'

/** Plans that are held unless said otherwise. */
const MAX_PLANS = 4096
/** How long after its end a plan is still held, so that late receipts can be held against it. */
const HELD_AFTER_END_MS = 24 * 3_600_000

export interface SessionPlanOptions {
  readonly journal: Journal
  readonly clock: Clock
  /** Read at each plan: the address is not known before the listener is bound. */
  readonly context: () => LocalPlanContext
  /** Plans that are held, 4,096 by default; one more lets go of the one that was made first. */
  readonly maxPlans?: number
  /** Told of journal lines that were skipped. */
  readonly onWarning?: (message: string) => void
}

/**
 * The plans of sessions: what each may do, until when, sealed by a hash. They belong to the installation
 * and hold nothing of any caller but the intent that it stated, so whoever may ask may read them.
 */
export interface SessionPlans {
  /** Make a plan; durable when it resolves. @throws {CruxError} `READ_ONLY_CALLER`, and the journal's codes. */
  mint(
    caller: Caller,
    request: { readonly intent?: string | undefined; readonly hints?: PlanHints | undefined },
  ): Promise<SessionPlan>
  /** The plan of a session, live or not, while it is held. @param sessionId - 32 hex digits. */
  find(sessionId: string): SessionPlan | undefined
  /** Plans that hold now, newest first. */
  active(): readonly SessionPlan[]
  /** Hold a client's receipt against the plan of its session. */
  verify(receipt: InvocationReceipt): InvocationVerdict
  stats(): { readonly plans: number }
  /**
   * Take plans that are not held any more off the disk, once they are more than those that are. Happens
   * by itself after a start and after each plan.
   *
   * @returns How many were taken off.
   */
  compact(): Promise<number>
  close(): Promise<void>
}

const STREAM = 'session-events'
const SEALED = 'corecrux.session.plan_sealed.v1'

const eventSchema = z.object({
  event_type: z.literal(SEALED),
  content_type: z.literal('application/x-corecrux-session-bin-v1'),
  tenant_id: z.string(),
  stream_type: z.literal('session-plans'),
  stream_id: z.string(),
  payload_hex: z.string(),
})

/**
 * Plans over the journal stream `session-events`.
 *
 * Replays the stream, and keeps following it until closed. The stream is rewritten while it is open, so
 * that it holds at most twice as many plans as memory.
 *
 * @throws {CruxError} The journal's codes.
 */
export async function openSessionPlans(options: SessionPlanOptions): Promise<SessionPlans> {
  const { journal, clock, context, maxPlans = MAX_PLANS } = options
  const onWarning = options.onWarning ?? (() => {})
  // In the order in which they were made, by session.
  const plans = new Map<string, SessionPlan>()
  const graphs = new Map<string, Pick<SessionPlan['capability_graph'], 'nodes' | 'edges'>>()
  const following = new AbortController()
  let applied: Position = 0
  /** Plans in the journal, held or not. */
  let stored = 0

  const letGo = (): void => {
    const now = clock.now()
    for (const [id, plan] of plans) {
      if (plans.size <= maxPlans && now < endOf(plan) + HELD_AFTER_END_MS) return
      plans.delete(id)
    }
  }
  const apply = ({ bytes }: JournalRecord, at: Position): void => {
    applied = at
    const payload = readEvent(bytes)
    if (payload === undefined) {
      onWarning(`session plans: skipped a line at position ${at}`)
      return
    }
    stored++
    const plan = decodePlan(payload)
    if (typeof plan === 'string') onWarning(`session plans: skipped one at position ${at}: ${plan}`)
    else plans.set(hex(plan.session_id), shareGraph(plan, graphs))
    letGo()
  }
  await journal.follow(STREAM, 0, apply, following.signal)

  let compacting: Promise<unknown> = Promise.resolve()
  const compactNow = async (): Promise<number> => {
    letGo()
    if (stored - plans.size <= plans.size) return 0
    const held = new Set(plans.keys())
    const until = applied
    let dropped = 0
    await journal.rewrite(STREAM, (record, at) => {
      if (at > until || isHeld(record, held)) return record.bytes
      dropped++
      return undefined
    })
    stored -= dropped
    return dropped
  }
  const compact = (): Promise<number> => {
    const compacted = compacting.then(compactNow)
    compacting = compacted.catch(() => undefined)
    return compacted
  }
  const compactAfterwards = (): void => {
    if (stored - plans.size <= plans.size) return
    compact().catch((error: unknown) => {
      onWarning(`session plans: old ones stay on the disk for now: ${messageOf(error)}`)
    })
  }
  await compact()

  return {
    async mint(caller, request) {
      requireWriter(caller)
      const plan = mintLocalPlan(context(), request, {
        nowMs: clock.now(),
        newId: () => new Uint8Array(randomBytes(16)),
      })
      const event: z.output<typeof eventSchema> = {
        event_type: SEALED,
        content_type: 'application/x-corecrux-session-bin-v1',
        tenant_id: plan.origin,
        stream_type: 'session-plans',
        stream_id: plan.passport.principal_id,
        payload_hex: hex(planToCbor(plan)),
      }
      const key = `${plan.origin}/${STREAM}/${hex(plan.session_id)}`
      await journal.append([{ key, bytes: Buffer.from(JSON.stringify(event)) }])
      compactAfterwards()
      return plan
    },
    find: (sessionId) => plans.get(sessionId.toLowerCase()),
    active() {
      const now = clock.now()
      return [...plans.values()].filter((plan) => isLive(plan, now)).reverse()
    },
    verify: (receipt) => verifyInvocation(receipt, plans.get(hex(receipt.session_id))),
    stats: () => ({ plans: plans.size }),
    compact,
    async close() {
      following.abort()
      await compacting
    },
  }
}

/** True until a plan's time is up. */
function isLive(plan: SessionPlan, now: number): boolean {
  return now < endOf(plan)
}

function endOf({ minted_at, session_ttl_s }: SessionPlan): number {
  return minted_at + session_ttl_s * 1000
}

/** Whether a record is of a plan that is held, or of no plan at all: such are not ours to drop. */
function isHeld({ key, bytes }: JournalRecord, held: ReadonlySet<string>): boolean {
  if (held.has(key.slice(key.lastIndexOf('/') + 1))) return true
  const payload = readEvent(bytes)
  if (payload === undefined) return true
  // Lines of other programs have no key.
  const plan = key === '' ? decodePlan(payload) : 'not held'
  return typeof plan !== 'string' && held.has(hex(plan.session_id))
}

function readEvent(bytes: Uint8Array): string | undefined {
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
    return eventSchema.parse(JSON.parse(text)).payload_hex
  } catch {
    return undefined
  }
}

/** The plan that a payload holds, or why it holds none. */
function decodePlan(payload: string): SessionPlan | string {
  let value: unknown
  try {
    value = decodeCbor(Buffer.from(payload, 'hex'))
  } catch {
    return 'it is not CBOR'
  }
  const parsed = sessionPlanSchema.safeParse(value)
  if (parsed.success) return parsed.data
  return `${parsed.error.issues[0]?.path.join('.') || 'plan'} is not as expected`
}

// Nearly all of a plan is its graph, and the graphs of one build are the same.
function shareGraph(
  plan: SessionPlan,
  graphs: Map<string, Pick<SessionPlan['capability_graph'], 'nodes' | 'edges'>>,
): SessionPlan {
  const { nodes, edges } = plan.capability_graph
  const name = canonicalJson([nodes, edges])
  const shared = graphs.get(name) ?? { nodes, edges }
  if (graphs.size >= MAX_GRAPHS) graphs.clear()
  graphs.set(name, shared)
  return { ...plan, capability_graph: { ...plan.capability_graph, ...shared } }
}

/** Different graphs that are remembered for sharing. */
const MAX_GRAPHS = 64
