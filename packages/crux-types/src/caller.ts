import { CruxError, type TypesErrorCode } from './errors.js'
import { assertTenant } from './tenant.js'

/**
 * Who asks. An argument of every store read and write; visibility and tenancy are decided from it
 * in the store, once, and never in a tool or a route.
 */
export type Caller = {
  readonly kind: 'anonymous' | 'agent' | 'oauth' | 'http' | 'system'
  /** Name of the agent token; null when there is none. */
  readonly agent: string | null
  /** Passport id when mapped, else the agent name; owns private facts. */
  readonly identity: string | null
  /** Other names under which this caller's private facts may have been stored. */
  readonly aliases: readonly string[]
  /** Home tenant: where this caller's facts live. */
  readonly tenant: string
  /** Further readable tenants, or `*` for all. */
  readonly tenants: readonly string[] | '*'
  readonly scopes: readonly string[] | '*'
  readonly readOnly: boolean
}

/** The tenant of callers that name none. */
export const DEFAULT_TENANT = 'default'

/** A caller without a token: home tenant `default`, every tenant readable. */
export const ANONYMOUS: Caller = Object.freeze({
  kind: 'anonymous',
  agent: null,
  identity: null,
  aliases: [],
  tenant: DEFAULT_TENANT,
  tenants: '*',
  scopes: '*',
  readOnly: false,
} as const)

/** The daemon itself, for work that no client asked for (seeding, reaping, backup). */
export const SYSTEM: Caller = Object.freeze({ ...ANONYMOUS, kind: 'system' })

/**
 * A caller that holds an agent token.
 *
 * @param binding - Home and further tenants when the operator bound this agent; else `default` and all.
 */
export function agentCaller(
  agent: string,
  binding: { tenant: string; tenants: readonly string[] | '*' } = {
    tenant: DEFAULT_TENANT,
    tenants: '*',
  },
): Caller {
  return { ...ANONYMOUS, ...binding, kind: 'agent', agent, identity: agent }
}

/** The passport that all callers without a name share. */
const ANONYMOUS_PASSPORT = '__anon__'

/** By whom a caller's calls are counted: its passport if it is mapped to one, else its name, else everybody nameless. */
export function passportOf(caller: Caller): string {
  return caller.identity ?? caller.agent ?? ANONYMOUS_PASSPORT
}

/** True when the caller may read that tenant. */
export function canReadTenant(caller: Caller, tenant: string): boolean {
  return caller.tenant === tenant || caller.tenants === '*' || caller.tenants.includes(tenant)
}

/**
 * The tenant named, checked for form and against the caller.
 *
 * @throws {CruxError} `TENANT_INVALID` or `TENANT_FORBIDDEN`.
 */
export function requireReadableTenant(caller: Caller, tenant: string): string {
  assertTenant(tenant)
  if (!canReadTenant(caller, tenant)) {
    throw new CruxError<TypesErrorCode>(
      'TENANT_FORBIDDEN',
      `tenant '${tenant}' is not readable by this caller; ask for one of its own tenants`,
      { data: { tenant } },
    )
  }
  return tenant
}

/** @throws {CruxError} `READ_ONLY_CALLER` when the caller may only read. */
export function requireWriter(caller: Caller): void {
  if (caller.readOnly) {
    throw new CruxError<TypesErrorCode>(
      'READ_ONLY_CALLER',
      'this caller may only read; connect with a token that may write',
    )
  }
}
