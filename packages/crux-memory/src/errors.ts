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
 * - `FACT_NOT_FOUND`: a fact to change or to look back on does not exist; `data.fact_id`.
 * - `FACT_NOT_EDITABLE`: a fact cannot be changed by this caller, because it is the system's or somebody else's; `data.fact_id`.
 * - `FACT_RESERVED`: the freshness of a fact is not kept, because it is private or the system's; `data.fact_id`.
 * - `PIN_NEEDS_IDENTITY`: pins and acknowledgements belong to an agent, and the caller has no name.
 * - `CONSOLIDATION_REFUSED`: a target cannot be retired, or the request is wrong; `data.reason` (`invalid_request`,
 *   `target_not_found`, `target_deleted`, `target_pinned`, `target_private`, `target_receipt_linked`,
 *   `target_high_confidence`), `data.fact_id`. Nothing was changed.
 * - `UNDO_REFUSED`: a fact is no canonical fact of a consolidation, or newer versions stand on it; `data.fact_id`.
 * - `ADMIN_REQUIRED`: the caller lacks an administrator's scope; `data.scope`.
 * - `CURSOR_INVALID`: an export cannot go on after that fact; `data.cursor`.
 * - `IMPORT_INVALID`: what is to be restored is no fact of an export.
 * - `IMPORT_CONFLICT`: a source id was imported with another value, or a restored fact does not follow the
 *   current one; `data.fact_id`. Nothing was stored.
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
  | 'FACT_NOT_FOUND'
  | 'FACT_NOT_EDITABLE'
  | 'FACT_RESERVED'
  | 'PIN_NEEDS_IDENTITY'
  | 'CONSOLIDATION_REFUSED'
  | 'UNDO_REFUSED'
  | 'ADMIN_REQUIRED'
  | 'CURSOR_INVALID'
  | 'IMPORT_INVALID'
  | 'IMPORT_CONFLICT'
  | 'FACT_STORE_CLOSED'
