/**
 * The one error type of the workspace: a code for programs, a sentence for people.
 *
 * The sentence says what happened, with the value, and what to do next. Each package lists its
 * codes as a string union in its own `errors.ts`.
 */
export class CruxError<Code extends string = string> extends Error {
  override readonly name = 'CruxError'
  /** Facts for programs about this failure; the code's documentation says which. */
  readonly data: Readonly<Record<string, unknown>>

  constructor(
    readonly code: Code,
    message: string,
    options: { cause?: unknown; data?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.data = options.data ?? {}
  }
}

/** True when `error` is a {@link CruxError} with one of these codes. */
export function hasCode<Code extends string>(
  error: unknown,
  ...codes: readonly Code[]
): error is CruxError<Code> {
  return error instanceof CruxError && (codes as readonly string[]).includes(error.code)
}

/** What a thrown value says, whatever was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/**
 * Codes thrown by crux-types.
 *
 * - `TENANT_INVALID`: a tenant name is empty, too long, a wildcard, or holds a forbidden character; `data.tenant`.
 * - `TENANT_FORBIDDEN`: the caller may not read that tenant; `data.tenant`.
 * - `READ_ONLY_CALLER`: a write was asked for by a caller that may only read.
 * - `SESSION_ID_INVALID`: a session id is empty, over 256 UTF-8 bytes, or holds a control character; `data.reason`.
 * - `SESSION_ID_RESERVED`: a session id starts with a prefix that the daemon keeps for itself; `data.prefix`.
 * - `SESSION_OWNER_INVALID`: the agent's name cannot own sessions, because names with `::` inside or
 *   `:` at the end would share ids with another agent; `data.agent`.
 * - `TEXT_INVALID`: text holds an unpaired surrogate or a forbidden control character, or is too long; `data.field`.
 */
export type TypesErrorCode =
  | 'TENANT_INVALID'
  | 'TENANT_FORBIDDEN'
  | 'READ_ONLY_CALLER'
  | 'SESSION_ID_INVALID'
  | 'SESSION_ID_RESERVED'
  | 'SESSION_OWNER_INVALID'
  | 'TEXT_INVALID'
