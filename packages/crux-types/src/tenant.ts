import { CruxError, type TypesErrorCode } from './errors.js'

/** Longest tenant name, in UTF-16 units. */
export const MAX_TENANT_LENGTH = 128

// Letters and digits of any script, and the punctuation that tenant names carry in practice.
// Slashes are excluded because journal keys are `<tenant>/<stream>/<id>`.
const TENANT = /^[\p{L}\p{N}_][\p{L}\p{N}._:@-]*$/u

/** True when `tenant` names one concrete tenant: 1 to 128 characters, no white space, `/` or `*`. */
export function isTenant(tenant: string): boolean {
  return tenant.length <= MAX_TENANT_LENGTH && TENANT.test(tenant)
}

/** @throws {CruxError} `TENANT_INVALID` unless {@link isTenant}. */
export function assertTenant(tenant: string): void {
  if (!isTenant(tenant)) {
    throw new CruxError<TypesErrorCode>(
      'TENANT_INVALID',
      `tenant ${JSON.stringify(tenant.slice(0, 80))} is not a tenant name; expected 1 to ${MAX_TENANT_LENGTH} letters, digits or . _ : @ -, starting with a letter, digit or _`,
      { data: { tenant } },
    )
  }
}
