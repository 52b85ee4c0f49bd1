/**
 * Codes thrown by crux-mcp.
 *
 * - `AGENT_TOKENS_INVALID`: an item of the agent tokens is malformed; `data.item` counts from 1. The token is never shown.
 * - `AGENT_TENANTS_INVALID`: an item that binds an agent to tenants is malformed; `data.item` counts from 1.
 * - `BIND_REFUSED`: a non-loopback host without agent tokens; `data.host`.
 * - `LISTEN_FAILED`: the address cannot be bound; `data.host`, `data.port`, `data.reason` (such as `EADDRINUSE`).
 * - `JSON_INVALID`: bytes are not UTF-8 or not JSON; the message holds nothing of the input but single characters.
 * - `ARGUMENTS_INVALID`: a tool's arguments are missing or of the wrong form; the message is for the caller.
 * - `CAPABILITY_DENIED`: this caller may not do it, or the operator switched it off; the message is for the caller.
 * - `IDENTITY_REQUIRED`, `PASSPORT_REQUIRED`: the caller has no name and the tool needs one; the message is for the caller.
 * - `TOOL_DISABLED`: the operator switched the tool off, and it answers like one that does not exist; the message is for the caller.
 * - `SESSION_BUDGET_SPENT`: the caller used up its tokens, and the limit is enforced; `data.used`, `data.limit`; the message is for the caller.
 * - `OBSERVATIONS_UNAVAILABLE`: the surface was started without a store of observations.
 * - `CALL_TIMED_OUT`: a tool did not answer within its time limit; `data.tool`, `data.limitMs`.
 * - `CALL_CANCELLED`: whoever called a tool no longer waits for it; `data.tool`.
 */
export type McpErrorCode =
  | 'AGENT_TOKENS_INVALID'
  | 'AGENT_TENANTS_INVALID'
  | 'BIND_REFUSED'
  | 'LISTEN_FAILED'
  | 'JSON_INVALID'
  | 'ARGUMENTS_INVALID'
  | 'CAPABILITY_DENIED'
  | 'IDENTITY_REQUIRED'
  | 'PASSPORT_REQUIRED'
  | 'TOOL_DISABLED'
  | 'SESSION_BUDGET_SPENT'
  | 'OBSERVATIONS_UNAVAILABLE'
  | 'CALL_TIMED_OUT'
  | 'CALL_CANCELLED'
