import { type Caller, DEFAULT_TENANT, isTenant } from 'crux-types'
import type { Config } from '../config/load.js'
import type { Principal } from './auth.js'
import { ProblemError } from './problem.js'

/** Header that names one of the caller's tenants. */
export const TENANT_HEADER = 'x-corecrux-tenant-id'

/**
 * The caller of a read: home is the token's single tenant, else the one that the header names among
 * those of the token, else `default`.
 *
 * @throws {ProblemError} 403 when the token names no tenant or not the selected one; 400 when it must be selected.
 */
export function readingCaller(principal: Principal, selected: string | undefined): Caller {
  return callerOf(principal, homeTenant(principal, selected))
}

/**
 * The caller of a request that names its tenant itself: every tenant of the token is within reach.
 *
 * @throws {ProblemError} 403 when the token names no tenant.
 */
export function anyTenantCaller(principal: Principal): Caller {
  const [first] = principal.tenants === '*' ? [] : principal.tenants
  return callerOf(principal, homeTenant(principal, first))
}

/**
 * The caller of a write of facts.
 *
 * @param stamp - `off`: home is `default` whatever the header says; `shadow`: the same, and `onDiffer`
 *   hears what `on` would have chosen; `on`: home as for reads.
 * @throws {ProblemError} As {@link readingCaller}, with `on`.
 */
export function writingCaller(
  principal: Principal,
  selected: string | undefined,
  stamp: Config['tenantWriteStamp'],
  onDiffer: (outcome: string) => void,
): Caller {
  if (stamp === 'on') return readingCaller(principal, selected)
  if (stamp === 'shadow') {
    try {
      const tenant = homeTenant(principal, selected)
      if (tenant !== DEFAULT_TENANT) onDiffer(`tenant '${tenant}'`)
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      onDiffer(error.message)
    }
  }
  return callerOf(principal, DEFAULT_TENANT)
}

function homeTenant(principal: Principal, selected: string | undefined): string {
  const { tenants } = principal
  if (tenants !== '*' && tenants.length === 0) {
    throw new ProblemError('forbidden', 'token missing tenant_id/tenants claim', {
      extensions: { code: 'TENANT_CLAIM_MISSING' },
    })
  }
  if (selected !== undefined) {
    if (!isTenant(selected)) {
      throw new ProblemError('bad-request', `${TENANT_HEADER} does not hold a tenant name`)
    }
    if (tenants !== '*' && !tenants.includes(selected)) {
      throw new ProblemError('forbidden', 'tenant not allowed', {
        extensions: { code: 'TENANT_FORBIDDEN', tenantId: selected },
      })
    }
    return selected
  }
  if (tenants === '*') return DEFAULT_TENANT
  const [only, ...others] = tenants
  if (only === undefined || others.length > 0) {
    throw new ProblemError(
      'bad-request',
      `the token allows several tenants; name one in ${TENANT_HEADER}`,
      { extensions: { code: 'TENANT_SELECTOR_REQUIRED' } },
    )
  }
  return only
}

function callerOf(principal: Principal, tenant: string): Caller {
  return {
    kind: 'http',
    agent: null,
    // Only a signed token proves a passport, so only there are private facts within reach.
    identity: principal.passport,
    aliases: [],
    tenant,
    tenants: principal.tenants,
    scopes: principal.scopes,
    readOnly: false,
  }
}
