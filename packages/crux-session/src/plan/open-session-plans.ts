import { randomBytes } from 'node:crypto'
import { forEachStateLine, type Journal, type Position } from 'crux-storage'
import { type Caller, type Clock, createPauser, requireWriter } from 'crux-types'
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
  snapshot(): Promise<void>
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
 * Loads the newest snapshot, replays what follows it, and keeps following the journal until closed.
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

  const keep = (plan: SessionPlan): void => {
    const oldest = plans.size < maxPlans ? undefined : plans.keys().next().value
    if (oldest !== undefined) plans.delete(oldest)
    plans.set(hex(plan.session_id), shareGraph(plan, graphs))
  }
  const applyPayload = (payload: string, from: string): void => {
    const plan = decodePlan(payload)
    if (typeof plan === 'string') onWarning(`session plans: skipped one at ${from}: ${plan}`)
    else keep(plan)
  }

  const snapshot = await journal.loadSnapshot(STREAM)
  if (snapshot !== undefined) {
    const pause = createPauser()
    await forEachStateLine(snapshot.state, (line) => {
      applyPayload(line.toString('latin1'), 'the snapshot')
      return pause()
    })
    applied = snapshot.at
  }
  await journal.follow(
    STREAM,
    applied,
    ({ bytes }, at) => {
      const payload = readEvent(bytes)
      if (payload === undefined) onWarning(`session plans: skipped a line at position ${at}`)
      else applyPayload(payload, `position ${at}`)
      applied = at
    },
    following.signal,
  )

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
      return plan
    },
    find: (sessionId) => plans.get(sessionId.toLowerCase()),
    active() {
      const now = clock.now()
      return [...plans.values()].filter((plan) => isLive(plan, now)).reverse()
    },
    verify: (receipt) => verifyInvocation(receipt, plans.get(hex(receipt.session_id))),
    stats: () => ({ plans: plans.size }),
    async snapshot() {
      // Copied in one go, so that it is the state at exactly `applied`.
      await journal.saveSnapshot(STREAM, applied, writeSnapshot([...plans.values()]))
    },
    async close() {
      following.abort()
    },
  }
}

/** True until a plan's time is up. */
function isLive(plan: SessionPlan, now: number): boolean {
  return now < plan.minted_at + plan.session_ttl_s * 1000
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

async function* writeSnapshot(plans: readonly SessionPlan[]): AsyncIterable<Uint8Array> {
  for (const plan of plans) yield Buffer.from(`${hex(planToCbor(plan))}\n`)
}
