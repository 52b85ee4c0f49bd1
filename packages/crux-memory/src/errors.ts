/**
 * Codes thrown by crux-memory.
 *
 * - `CONFIDENCE_INVALID`: a confidence or a floor is not a number within 0..1; `data.field`, `data.value`.
 * - `HORIZON_INVALID`: a horizon class is not one of the four; `data.value`, `data.allowed`.
 * - `PRIVATE_NEEDS_IDENTITY`: a private fact was to be written by a caller without an identity.
 * - `IDENTITY_INVALID`: the caller's identity cannot own private facts, because a name with `::` inside or
 *   `:` at the end would share them with another; `data.identity`.
 * - `ENTITY_RESERVED`: the entity lies in another agent's private space; `data.entity`, `data.prefix`.
 * - `SUPERSEDES_INVALID`: facts to retire do not exist or are not visible to the caller; `data.invalid_refs`.
 *   Nothing was stored.
 * - `VALIDITY_INVALID`: bounds of world time are no times, or end before they start; `data.from`, `data.to`.
 * - `QUERY_INVALID`: a count or a budget of a query is not a whole number from 0; `data.field`, `data.value`.
 * - `FACT_CONFLICT`: other writers changed the same fact so often that the write was given up; `data.key`.
 *   Nothing was stored; try again.
 * - `FACT_STORE_CLOSED`: the store was closed.
 */
export type MemoryErrorCode =
  | 'CONFIDENCE_INVALID'
  | 'HORIZON_INVALID'
  | 'PRIVATE_NEEDS_IDENTITY'
  | 'IDENTITY_INVALID'
  | 'ENTITY_RESERVED'
  | 'SUPERSEDES_INVALID'
  | 'VALIDITY_INVALID'
  | 'QUERY_INVALID'
  | 'FACT_CONFLICT'
  | 'FACT_STORE_CLOSED'
