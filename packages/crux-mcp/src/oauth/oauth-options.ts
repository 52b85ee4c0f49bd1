/** This server as a protected resource of OAuth 2. */
export interface OAuthOptions {
  /** Address under which clients know this server; without it there is neither metadata nor a challenge. */
  readonly resourceUrl?: string | undefined
  /** Where clients get tokens. */
  readonly authorizationServer: string
  /** How tokens are checked (RFC 7662); without it none is accepted. */
  readonly introspection?: IntrospectionOptions | undefined
  /** Home tenant of callers that hold a token, and the name they go by. */
  readonly tenant: string
  /** Refuse tokens that name another audience than `resourceUrl`. */
  readonly requireAudience: boolean
}

/** The endpoint that knows tokens, and how this server proves itself there. */
export interface IntrospectionOptions {
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  /** For the whole exchange; default 10,000. */
  readonly timeoutMs?: number
}

/** The scope that lets a token in. */
export const READ_SCOPE = 'mcp:read'
