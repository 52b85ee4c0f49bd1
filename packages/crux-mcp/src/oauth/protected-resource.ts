import { type OAuthOptions, READ_SCOPE } from './oauth-options.js'

/** Where the metadata is served (RFC 9728, 3). */
export const PROTECTED_RESOURCE_PATH = '/.well-known/oauth-protected-resource'

/** What clients are told about how to get in. */
export interface ProtectedResource {
  /** JSON text of the metadata document. */
  readonly metadata: string
  /** Value of `WWW-Authenticate` in an answer of 401 (RFC 9728, 5.1). */
  readonly challenge: string
}

/** @returns Undefined when this server has no address as a resource. */
export function protectedResource(oauth: OAuthOptions | undefined): ProtectedResource | undefined {
  if (oauth?.resourceUrl === undefined) return undefined
  const { resourceUrl, authorizationServer } = oauth
  return {
    metadata: JSON.stringify({
      resource: resourceUrl,
      authorization_servers: [authorizationServer],
      scopes_supported: [READ_SCOPE],
      bearer_methods_supported: ['header'],
    }),
    challenge: `Bearer resource_metadata="${new URL(resourceUrl).origin}${PROTECTED_RESOURCE_PATH}"`,
  }
}
