import { z } from 'zod'

/** One session as it stands in the journal; times are RFC 3339 in UTC. */
export const sessionRecord = z.object({
  /** Stored id; an agent's is `__agent_session::<agent>::<id>`. */
  session_id: z.string().min(1),
  /** Absent: the default tenant. */
  tenant: z.string().min(1).optional(),
  state: z.unknown(),
  updated_at: z.string(),
  total_tokens: z.number().int().min(0),
  expires_at: z.string().nullish(),
  archived: z.boolean().default(false),
  archived_at: z.string().nullish(),
  archive_reason: z.string().nullish(),
})

/** A change in the stream `sessions`. */
export const sessionLine = z.discriminatedUnion('op', [
  z.object({ op: z.literal('store'), session: sessionRecord }),
  z.object({
    op: z.literal('delete'),
    session_id: z.string().min(1),
    tenant: z.string().min(1).optional(),
  }),
])

export type SessionRecord = z.output<typeof sessionRecord>
export type SessionLine = z.output<typeof sessionLine>

/** UTF-8 bytes of one journal line, without the line break. */
export function encodeSessionLine(line: SessionLine): Uint8Array {
  return Buffer.from(JSON.stringify(line))
}

/**
 * The change that a journal line names.
 *
 * @returns The reason as text when the line is not one, so that a replay can report and go on.
 */
export function decodeSessionLine(bytes: Uint8Array): SessionLine | string {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
  } catch {
    // The parser's own message would quote stored text.
    return 'it is not JSON'
  }
  const parsed = sessionLine.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  return `${issue?.path.join('.') || 'line'}: ${issue?.message ?? 'unexpected shape'}`
}
