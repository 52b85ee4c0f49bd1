/**
 * Codes thrown by the substrate: entities, edges, kinds, artefacts and engrams.
 *
 * - `KIND_EXISTS`: a kind was to be registered twice; `data.kind`.
 * - `KIND_UNKNOWN`: a payload was to be held against a kind that nobody registered; `data.kind`.
 * - `PAYLOAD_INVALID`: a payload does not fit the schema of its kind; `data.kind`, `data.reason`.
 * - `PAYLOAD_TOO_LARGE`: a payload's compact JSON is over the limit; `data.bytes`, `data.maxBytes`.
 * - `ENTITY_NOT_FOUND`: an entity to delete was never stored; `data.kind`, `data.id`.
 * - `EDGE_NOT_FOUND`: an edge to delete was never stored; `data.edge_id`.
 * - `RECORD_CONFLICT`: other writers changed the same record so often that the write was given up; `data.key`.
 *   Nothing was stored; try again.
 * - `ARTEFACT_NEEDS_IDENTITY`: artefacts belong to an agent, and this caller has no name.
 * - `ARTEFACT_INVALID`: an artefact has no bytes, or its lifetime is out of range; the message is for the caller.
 * - `ARTEFACT_TOO_LARGE`: an artefact is over the limit for one; `data.bytes`, `data.maxBytes`.
 * - `ARTEFACT_QUOTA`: the owner's artefacts would be over the limit for all; `data.bytes`, `data.maxBytes`.
 * - `ARTEFACT_FOREIGN`: the artefact belongs to another agent; `data.artefact_id`.
 * - `ENGRAMS_UNAVAILABLE`: named engrams do not exist, are switched off or are not for this class of model;
 *   `data.missing`, `data.capability_class`.
 * - `SUBSTRATE_CLOSED`: the store was closed.
 */
export type SubstrateErrorCode =
  | 'KIND_EXISTS'
  | 'KIND_UNKNOWN'
  | 'PAYLOAD_INVALID'
  | 'PAYLOAD_TOO_LARGE'
  | 'ENTITY_NOT_FOUND'
  | 'EDGE_NOT_FOUND'
  | 'RECORD_CONFLICT'
  | 'ARTEFACT_NEEDS_IDENTITY'
  | 'ARTEFACT_INVALID'
  | 'ARTEFACT_TOO_LARGE'
  | 'ARTEFACT_QUOTA'
  | 'ARTEFACT_FOREIGN'
  | 'ENGRAMS_UNAVAILABLE'
  | 'SUBSTRATE_CLOSED'
