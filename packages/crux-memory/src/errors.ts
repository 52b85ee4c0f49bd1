/**
 * Codes thrown by crux-memory.
 *
 * - `CONFIDENCE_INVALID`: a confidence or a floor is not a number within 0..1; `data.field`, `data.value`.
 * - `HORIZON_INVALID`: a horizon class is not one of the four; `data.value`, `data.allowed`.
 * - `PRIVATE_NEEDS_IDENTITY`: a private fact was to be written by a caller without an identity.
 * - `IDENTITY_INVALID`: the caller's identity cannot own private facts, because a name with `::` inside or
 *   `:` at the end would share them with another; `data.identity`.
 * - `ENTITY_RESERVED`: the entity lies in another agent's private space, or only the daemon writes it; `data.entity`, `data.prefix`.
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
 * - `CANDIDATE_NOT_FOUND`: no candidate has that id in the caller's tenant; `data.candidate_id`.
 * - `CANDIDATE_PROMOTED`: a candidate was promoted and cannot be decided on again; `data.candidate_id`.
 * - `PROMOTION_REFUSED`: a candidate without a person to promote it has no score, or a low one; `data.candidate_id`.
 * - `UNDO_REFUSED`: a fact is no canonical fact of a consolidation, or newer versions stand on it; `data.fact_id`.
 * - `ADMIN_REQUIRED`: the caller lacks an administrator's scope; `data.scope`.
 * - `CURSOR_INVALID`: an export cannot go on after that fact; `data.cursor`.
 * - `IMPORT_INVALID`: what is to be restored is no fact of an export.
 * - `IMPORT_CONFLICT`: a source id was imported with another value, or a restored fact does not follow the
 *   current one; `data.fact_id`. Nothing was stored.
 * - `FORGET_SCOPE_INVALID`: a scope is not one of the five; `data.accepted_types`, `data.error`.
 * - `FORGET_NEEDS_IDENTITY`: only who has an identity forgets.
 * - `FORGET_REASON_MISSING`: the reason is blank.
 * - `FORGET_CONFIRM_MISSING`: so much is forgotten only with the confirm of a dry run; `data.count`.
 * - `FORGET_CONFIRM_STALE`: the confirm belongs to another set of facts; `data.count`. Nothing was forgotten.
 * - `FORGET_HELD`: legal holds cover some of the facts; `data.hold_ids`, `data.holds`, `data.facts_blocked`.
 * - `FORGET_ENDED`: a receipt was restored or purged already; `data.status`.
 * - `FORGET_WINDOW_OPEN`: a purge before the end of the window; `data.window_end`.
 * - `FORGET_WINDOW_OVER`: an undo after the end of the window; `data.window_end`.
 * - `FORGET_NOT_OPERATOR`: a purge before the end of the window, by somebody who is no operator.
 * - `ERASURE_HELD`: legal holds cover deleted facts that were to be compacted away; `data.hold_ids`, `data.fact_ids`.
 * - `HOLD_OVERRIDE_INVALID`: an override is no receipt, or does not cover all that is held; `data` as above.
 * - `LEGAL_HOLD_FORBIDDEN`: the caller is no operator.
 * - `LEGAL_HOLD_INVALID`: a hold lacks its tenant or its reason.
 * - `LEGAL_HOLD_NOT_FOUND`: no hold within the caller's tenants has that id.
 * - `LEGAL_HOLD_RELEASED`: the hold was released before.
 * - `FACT_STORE_CLOSED`: the store was closed.
 * - `SNAPSHOT_UNREADABLE`: a snapshot is of another version or not whole; the store replays the journal instead.
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
  | 'CANDIDATE_NOT_FOUND'
  | 'CANDIDATE_PROMOTED'
  | 'PROMOTION_REFUSED'
  | 'UNDO_REFUSED'
  | 'ADMIN_REQUIRED'
  | 'CURSOR_INVALID'
  | 'IMPORT_INVALID'
  | 'IMPORT_CONFLICT'
  | 'FORGET_SCOPE_INVALID'
  | 'FORGET_NEEDS_IDENTITY'
  | 'FORGET_REASON_MISSING'
  | 'FORGET_CONFIRM_MISSING'
  | 'FORGET_CONFIRM_STALE'
  | 'FORGET_HELD'
  | 'FORGET_ENDED'
  | 'FORGET_WINDOW_OPEN'
  | 'FORGET_WINDOW_OVER'
  | 'FORGET_NOT_OPERATOR'
  | 'ERASURE_HELD'
  | 'HOLD_OVERRIDE_INVALID'
  | 'LEGAL_HOLD_FORBIDDEN'
  | 'LEGAL_HOLD_INVALID'
  | 'LEGAL_HOLD_NOT_FOUND'
  | 'LEGAL_HOLD_RELEASED'
  | 'FACT_STORE_CLOSED'
  | 'SNAPSHOT_UNREADABLE'
