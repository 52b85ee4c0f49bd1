import type { Caller } from 'crux-types'
import { CruxError } from 'crux-types'
import type { MemoryErrorCode } from './errors.js'

/** Start of the stored entity of every agent's private facts: `__agent::<owner>::<entity>`. */
export const AGENT_PREFIX = '__agent::'

/** Start of the entities that hold legal holds. */
export const LEGAL_HOLD_PREFIX = '__legal_hold__::'
/** Start of the entities that hold receipts of legal holds. */
export const LEGAL_HOLD_RECEIPT_PREFIX = '__legal_hold_receipt__::'

/** Start of the entities that hold installed extensions. */
export const EXTENSION_PREFIX = '__extension__::'
/** Start of the entities that say which agent may use which tools of an extension. */
export const EXTENSION_GRANT_PREFIX = '__extension_grant__::'

// Entities of the daemon's own records: always private, and sharing them cannot be switched on.
const DAEMON_PREFIXES: readonly string[] = [
  '__action_enrichment_receipt__::',
  '__ops::',
  '__ops__::',
  '__answer_replay_capsule__::',
  '__bootstrap__::',
  '__candidate_fact__::',
  '__consolidation_review__::',
  '__constraints__::',
  '__coord__::',
  '__dossier__::',
  '__engram__::',
  EXTENSION_PREFIX,
  EXTENSION_GRANT_PREFIX,
  '__gpu1_receipt__::',
  '__incident__::',
  LEGAL_HOLD_PREFIX,
  LEGAL_HOLD_RECEIPT_PREFIX,
  '__memory_pin::',
  '__mint_request__::',
  '__orchestrator_receipt__::',
  '__passport__::',
  '__plane__::',
  '__plane_layer__::',
  '__project__::',
  '__project_layer__::',
  '__project_repo_link__::',
  '__rcx_publish__::',
  '__repo_codegraph_ids__::',
  '__repo_extdeps__::',
  '__repo_registry__::',
  '__repo_scan__::',
  '__result_envelope__::',
  '__result_envelope_incident__::',
  '__reverify_receipts__::',
  '__session_binding__::',
  '__storybook__::',
  '__sync__::',
  '__sync_tombstone__::',
  '__sync_wipe_receipt__::',
  '__tenant_metadata__::',
  '__work__::',
  '__work_comment__::',
  '__work_gate__::',
  '__work_transition__::',
  '__workbench__::',
  '__workspace_scan__::',
  'console:page:',
  'console:tileboard:',
  'console:tiledesign:',
  'console:workspace:',
]

// Private unless the operator shares them.
const SHAREABLE_PREFIXES: readonly string[] = [
  '__ax__::',
  '__ax_session::',
  '__tenant__::',
  '__tenant_mirror__::',
  '__workspace__::',
  '__infra__::',
  'decisions::',
  'github::',
]

const PROTECTED_PREFIXES: readonly string[] = [AGENT_PREFIX, ...DAEMON_PREFIXES]
const HOLD_PREFIXES: readonly string[] = [LEGAL_HOLD_PREFIX, LEGAL_HOLD_RECEIPT_PREFIX]
const EXTENSION_PREFIXES: readonly string[] = [EXTENSION_PREFIX, EXTENSION_GRANT_PREFIX]
const NO_OWNERS: readonly string[] = []

/** Entities that the memory panel leaves out; tested against what the caller sees. */
export const PANEL_RESERVED_PREFIXES: readonly string[] = [
  AGENT_PREFIX,
  '__ops::',
  '__bootstrap__::',
  '__memory_pin::',
  '__work__::',
  '__decisions__::',
  '__project_layer__::',
  '__tenant_metadata__::',
]

/** Which entities are private whatever their writer asks for. */
export interface PrivacyPolicy {
  /** The listed start that makes this stored entity private; undefined when it is free. */
  forcedBy(storedEntity: string): string | undefined
  /** False for starts that no configuration can share. */
  isShareable(prefix: string): boolean
}

/**
 * The policy in force.
 *
 * @param options.alwaysPrivate - Further starts that are private.
 * @param options.share - Starts to share; one counts when it equals a listed start or is longer than
 *   it, and never for the daemon's own records and agents' private facts.
 */
export function createPrivacyPolicy(
  options: { alwaysPrivate?: readonly string[]; share?: readonly string[] } = {},
): PrivacyPolicy {
  const own = (options.alwaysPrivate ?? []).filter((prefix) => prefix !== '')
  const listed = [...PROTECTED_PREFIXES, ...SHAREABLE_PREFIXES, ...own]
  const shared = (options.share ?? []).filter(
    (prefix) =>
      listed.some((start) => prefix.startsWith(start)) &&
      findPrefix(prefix, PROTECTED_PREFIXES) === undefined,
  )
  // Asked for every fact that is stored, and few entities start with any of their first characters.
  const byFirst = new Map<number, string[]>()
  for (const prefix of listed) {
    const first = prefix.charCodeAt(0)
    byFirst.set(first, [...(byFirst.get(first) ?? []), prefix])
  }
  return {
    forcedBy(storedEntity) {
      const candidates = byFirst.get(storedEntity.charCodeAt(0))
      const prefix = candidates && findPrefix(storedEntity, candidates)
      if (prefix === undefined || PROTECTED_PREFIXES.includes(prefix)) return prefix
      return findPrefix(storedEntity, shared) === undefined ? prefix : undefined
    },
    isShareable: (prefix) => !PROTECTED_PREFIXES.includes(prefix),
  }
}

/** The first of `prefixes` that `text` starts with. */
export function findPrefix(text: string, prefixes: readonly string[]): string | undefined {
  for (const prefix of prefixes) if (text.startsWith(prefix)) return prefix
  return undefined
}

/** Owner and own name of an agent's private entity; undefined for any other entity. */
export function splitPrivateEntity(
  storedEntity: string,
): { readonly owner: string; readonly entity: string } | undefined {
  if (!storedEntity.startsWith(AGENT_PREFIX)) return undefined
  const end = storedEntity.indexOf('::', AGENT_PREFIX.length)
  if (end === -1) return undefined
  return {
    owner: storedEntity.slice(AGENT_PREFIX.length, end),
    entity: storedEntity.slice(end + 2),
  }
}

/** Stored entity of `owner`'s private `entity`. */
export function privateEntity(owner: string, entity: string): string {
  return `${AGENT_PREFIX}${owner}::${entity}`
}

/** Names whose private facts the caller sees: its identity and its aliases. */
export function ownersOf(caller: Caller): readonly string[] {
  if (caller.identity === null) return NO_OWNERS
  return [caller.identity, ...caller.aliases.filter((alias) => alias !== caller.identity)]
}

/**
 * The entity as the caller sees it; undefined when it may not see the fact.
 *
 * @param isPrivate - The fact's private flag, after the policy.
 */
export function visibleEntity(
  owners: readonly string[],
  storedEntity: string,
  isPrivate: boolean,
): string | undefined {
  const parts = splitPrivateEntity(storedEntity)
  if (parts !== undefined) return owners.includes(parts.owner) ? parts.entity : undefined
  return isPrivate ? undefined : storedEntity
}

/**
 * The stored entity of what a caller writes.
 *
 * @throws {CruxError} `PRIVATE_NEEDS_IDENTITY`, `IDENTITY_INVALID` or `ENTITY_RESERVED`.
 */
export function storedEntityOf(caller: Caller, entity: string, isPrivate: boolean): string {
  if (entity.startsWith(AGENT_PREFIX) && caller.kind !== 'system') {
    const parts = splitPrivateEntity(entity)
    if (parts !== undefined && ownersOf(caller).includes(parts.owner)) return entity
    throw new CruxError<MemoryErrorCode>(
      'ENTITY_RESERVED',
      `entity '${entity.slice(0, 80)}' lies in another agent's private space; choose a name that does not start with '${AGENT_PREFIX}'`,
      { data: { entity, prefix: AGENT_PREFIX } },
    )
  }
  // What keeps values from being erased is written by who may place holds, and by nobody else.
  const hold = findPrefix(entity, HOLD_PREFIXES)
  if (hold !== undefined && caller.kind !== 'system') {
    throw new CruxError<MemoryErrorCode>(
      'ENTITY_RESERVED',
      `entities that start with '${hold}' are legal holds; place and release them as operator (corecruxctl legal-hold)`,
      { data: { entity, prefix: hold } },
    )
  }
  // What is listed to agents as a tool is not for agents to write: it speaks to all of them.
  const extension = findPrefix(entity, EXTENSION_PREFIXES)
  if (extension !== undefined && caller.kind !== 'system') {
    throw new CruxError<MemoryErrorCode>(
      'ENTITY_RESERVED',
      `entities that start with '${extension}' say which tools of extensions agents see, and only the daemon writes them; choose another name`,
      { data: { entity, prefix: extension } },
    )
  }
  if (!isPrivate) return entity
  const { identity } = caller
  if (identity === null) {
    throw new CruxError<MemoryErrorCode>(
      'PRIVATE_NEEDS_IDENTITY',
      'a private fact needs an owner, and this caller has no identity; connect with an agent token or store it without private',
    )
  }
  // The owner ends at the first `::`: such a name would hand its facts to a shorter one.
  if (identity === '' || identity.includes('::') || identity.endsWith(':')) {
    throw new CruxError<MemoryErrorCode>(
      'IDENTITY_INVALID',
      `the identity '${identity}' cannot own private facts; rename it without '::' and without ':' at the end`,
      { data: { identity } },
    )
  }
  return privateEntity(identity, entity)
}
