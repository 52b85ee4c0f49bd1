import { z } from 'zod'
import { receiptSchema } from '../observations/observation.js'
import { parseMicroTime } from './micro-time.js'

/** What an entry of the activity log can be about. */
export const ACTIVITY_KINDS = [
  'question',
  'answer',
  'reasoning',
  'command',
  'fact',
  'execplan',
  'handoff',
  'error',
] as const

export type ActivityKind = (typeof ACTIVITY_KINDS)[number]

/** The kinds among some names, the others left out; undefined when there are none, which means all. */
export function activityKinds(names: readonly string[]): readonly ActivityKind[] | undefined {
  const kinds = ACTIVITY_KINDS.filter((kind) => names.some((name) => name.trim() === kind))
  return kinds.length === 0 ? undefined : kinds
}

/** Names the form of a stored entry. */
export const ACTIVITY_SCHEMA = 'crux.activity.journal_entry.v1'
/** Who wrote an entry whose author proved no name. */
export const ANONYMOUS_ACTOR = '__anon__'
/** Longest text of an entry, in UTF-16 units. */
export const MAX_ACTIVITY_TEXT = 64 * 1024

const MAX_NAME = 256
const MAX_REFS = 64

const name = () =>
  z
    .string()
    .min(1)
    .max(MAX_NAME)
    .regex(/^[^\p{Cc}]*$/u, 'expected text without control characters')
const ids = () => z.array(name()).max(MAX_REFS).optional()

/** What an entry refers to. */
const refs = z.object({
  fact_ids: ids().describe('Facts that it was about.'),
  receipt_ids: ids().describe('Receipts that it has.'),
  event_ids: ids().describe('Events that it stands for.'),
})

const meta = z.object({
  tool: name().optional().describe('Tool that was called.'),
  intent: z.string().max(1024).optional().describe('What it was for.'),
  confidence: z.number().min(0).max(1).optional().describe('How sure its author is; 0 to 1.'),
  execplan_slug: name().optional().describe('Plan that it belongs to.'),
  error_class: name().optional().describe('Kind of the error.'),
})

/** What a client tells of its activity; who it is, the log knows itself. */
export const activityInputSchema = z.object({
  session_id: name().describe('Session that it happened in.'),
  turn_id: name().optional().describe('Turn of that session.'),
  kind: z.enum(ACTIVITY_KINDS),
  text: z
    .string()
    .max(MAX_ACTIVITY_TEXT)
    .regex(/\S/, 'expected some text')
    .describe('What happened.'),
  refs: refs.default({}),
  meta: meta.default({}),
  private: z.boolean().default(false).describe('Only its author reads it.'),
})

export type ActivityInput = z.output<typeof activityInputSchema>

/** An entry as it is stored and given out. */
export const activityEntrySchema = z.object({
  schema: z.literal(ACTIVITY_SCHEMA),
  entry_id: z.string(),
  tenant_id: z.string().min(1),
  session_id: z.string().min(1),
  turn_id: z.string().optional(),
  seq: z.int().min(0).describe('Number within the session, from 0.'),
  kind: z.enum(ACTIVITY_KINDS),
  actor_passport: z.string().describe('Who wrote it; __anon__ without a proven name.'),
  text: z.string(),
  refs: z.object({
    fact_ids: z.array(z.string()).optional(),
    receipt_ids: z.array(z.string()).optional(),
    event_ids: z.array(z.string()).optional(),
  }),
  meta: z.object({
    tool: z.string().optional(),
    intent: z.string().optional(),
    confidence: z.number().optional(),
    execplan_slug: z.string().optional(),
    error_class: z.string().optional(),
  }),
  private: z.boolean(),
  created_at: z
    .string()
    .refine((text) => parseMicroTime(text) !== undefined, 'expected an RFC 3339 time')
    .describe('RFC 3339 in UTC, with microseconds.'),
  receipt: receiptSchema.optional().describe('Over the bytes that the id is made of.'),
})

export type ActivityEntry = z.output<typeof activityEntrySchema>
