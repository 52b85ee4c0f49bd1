import { createPrivacyPolicy } from 'crux-memory'
import { ProblemError } from './problem.js'

/**
 * Entities that hold the daemon's own records, and agents' private space, are not written over HTTP.
 *
 * @throws {ProblemError} 403.
 */
export function refuseReserved(entity: string): void {
  const policy = createPrivacyPolicy()
  const prefix = policy.forcedBy(entity)
  if (prefix === undefined || policy.isShareable(prefix)) return
  throw new ProblemError(
    'forbidden',
    `entity starts with '${prefix}', which is reserved; choose another name`,
    { extensions: { code: 'RESERVED_ENTITY_PREFIX', entity, reserved_prefix: prefix } },
  )
}
