import { CruxError, hasCode } from 'crux-types'

const TITLES = {
  'bad-request': [400, 'Bad Request'],
  unauthorized: [401, 'Unauthorized'],
  forbidden: [403, 'Forbidden'],
  'not-found': [404, 'Not Found'],
  'method-not-allowed': [405, 'Method Not Allowed'],
  'request-timeout': [408, 'Request Timeout'],
  conflict: [409, 'Conflict'],
  'payload-too-large': [413, 'Payload Too Large'],
  'unsupported-media-type': [415, 'Unsupported Media Type'],
  'rate-limited': [429, 'Too Many Requests'],
  internal: [500, 'Internal Server Error'],
  'service-unavailable': [503, 'Service Unavailable'],
  overloaded: [503, 'Service Overloaded'],
} as const satisfies Record<string, readonly [number, string]>

/** Last part of a problem's `type`. */
export type ProblemSlug = keyof typeof TITLES

/** An answer that says what went wrong, in the form of RFC 9457. */
export interface Problem {
  readonly slug: ProblemSlug
  readonly detail: string
  /** Further members at the top level, such as `code`. */
  readonly extensions: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
}

/** Thrown in a route to answer a {@link Problem}. */
export class ProblemError extends CruxError<'HTTP_PROBLEM'> {
  readonly problem: Problem

  constructor(
    slug: ProblemSlug,
    detail: string,
    more: {
      extensions?: Readonly<Record<string, unknown>>
      headers?: Readonly<Record<string, string>>
    } = {},
  ) {
    super('HTTP_PROBLEM', detail)
    const { extensions = {}, headers = {} } = more
    this.problem = { slug, detail, extensions, headers }
  }
}

/** HTTP status of a problem. */
export function problemStatus(slug: ProblemSlug): number {
  return TITLES[slug][0]
}

/** The response that carries a problem. */
export function problemResponse(problem: Problem): Response {
  const [status, title] = TITLES[problem.slug]
  const body = {
    type: `https://errors.cuecrux.com/${problem.slug}`,
    title,
    status,
    detail: problem.detail,
    ...problem.extensions,
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...problem.headers, 'content-type': 'application/problem+json' },
  })
}

/** For each code of a store: how it is answered, with the members of `data` that become extensions. */
const BY_CODE: Readonly<
  Record<string, { slug: ProblemSlug; code?: string; members?: Record<string, string> }>
> = {
  TENANT_INVALID: { slug: 'bad-request' },
  TENANT_FORBIDDEN: {
    slug: 'forbidden',
    code: 'TENANT_FORBIDDEN',
    members: { tenant: 'tenantId' },
  },
  READ_ONLY_CALLER: { slug: 'forbidden' },
  TEXT_INVALID: { slug: 'bad-request' },
  JSON_INVALID: { slug: 'bad-request' },

  ACTIVITY_NEEDS_IDENTITY: { slug: 'bad-request' },
  CONFIDENCE_INVALID: { slug: 'bad-request' },
  HORIZON_INVALID: { slug: 'bad-request' },
  IDENTITY_INVALID: { slug: 'bad-request' },
  VALIDITY_INVALID: { slug: 'bad-request' },
  QUERY_INVALID: { slug: 'bad-request' },
  FACT_CONFLICT: { slug: 'conflict' },
  UNDO_REFUSED: { slug: 'conflict', code: 'UNDO_REFUSED' },
  ADMIN_REQUIRED: { slug: 'forbidden', code: 'MISSING_SCOPE' },
  CURSOR_INVALID: { slug: 'bad-request', code: 'CURSOR_INVALID' },
  IMPORT_CONFLICT: { slug: 'conflict', code: 'IMPORT_CONFLICT' },
  FACT_STORE_CLOSED: { slug: 'service-unavailable' },
  CANDIDATE_NOT_FOUND: { slug: 'not-found' },
  CANDIDATE_PROMOTED: { slug: 'conflict', code: 'CANDIDATE_PROMOTED' },
  FORGET_ENDED: { slug: 'conflict', code: 'FORGET_ENDED' },
  FORGET_WINDOW_OPEN: { slug: 'conflict', code: 'FORGET_WINDOW_OPEN' },
  FORGET_WINDOW_OVER: { slug: 'conflict', code: 'FORGET_WINDOW_OVER' },
  FORGET_NOT_OPERATOR: { slug: 'forbidden' },
  FORGET_HELD: {
    slug: 'conflict',
    code: 'LEGAL_HOLD_ACTIVE',
    members: { hold_ids: 'hold_ids', facts_blocked: 'facts_blocked' },
  },
  LEGAL_HOLD_FORBIDDEN: { slug: 'forbidden' },
  LEGAL_HOLD_INVALID: { slug: 'bad-request' },
  LEGAL_HOLD_NOT_FOUND: { slug: 'not-found' },
  LEGAL_HOLD_RELEASED: { slug: 'conflict' },
  PRIVATE_NEEDS_IDENTITY: { slug: 'bad-request' },
  SUPERSEDES_INVALID: { slug: 'bad-request' },
  ENTITY_RESERVED: { slug: 'forbidden', code: 'RESERVED_ENTITY_PREFIX' },

  OBSERVATION_INVALID: { slug: 'bad-request' },
  OBSERVATION_TOO_LARGE: { slug: 'payload-too-large' },
  OBSERVATION_NOT_FOUND: { slug: 'bad-request' },
  SESSION_ID_INVALID: { slug: 'bad-request' },
  SESSION_ID_RESERVED: { slug: 'forbidden', code: 'SESSION_ID_RESERVED' },
  SESSION_OWNER_INVALID: { slug: 'forbidden' },

  DOCUMENT_INVALID: { slug: 'bad-request' },
  DOCUMENT_DUPLICATE: { slug: 'bad-request' },
  INGEST_TOO_LARGE: { slug: 'payload-too-large' },
  EXPAND_TOO_LARGE: { slug: 'payload-too-large' },
  EMBEDDING_FAILED: { slug: 'service-unavailable', code: 'EMBEDDING_FAILED' },
  EMBEDDER_MISSING: { slug: 'conflict', code: 'EMBEDDER_MISSING' },
  MERGE_OFF: { slug: 'conflict', code: 'MERGE_OFF' },

  JOURNAL_POISONED: { slug: 'service-unavailable', code: 'IO_WRITE_FAILED' },
  JOURNAL_CLOSED: { slug: 'service-unavailable' },
  JOURNAL_CONFLICT: { slug: 'conflict' },
  STORAGE_WRITE_FAILED: { slug: 'service-unavailable', code: 'IO_WRITE_FAILED' },
  SEGMENT_STORE_CLOSED: { slug: 'service-unavailable' },
  DOCUMENT_STORE_CLOSED: { slug: 'service-unavailable' },
  BACKUP_UNSTABLE: { slug: 'service-unavailable' },
}

/**
 * How an error is answered. Only what the caller can mend, and a disk that takes no writes, is told
 * in detail; anything else is `internal`, without its message.
 *
 * @returns `isOurs` when it belongs in the log as a fault of the daemon.
 */
export function problemOf(error: unknown): { problem: Problem; isOurs: boolean } {
  if (error instanceof ProblemError) {
    return { problem: error.problem, isOurs: problemStatus(error.problem.slug) === 500 }
  }
  const rule = error instanceof CruxError ? BY_CODE[error.code] : undefined
  if (!(error instanceof CruxError) || rule === undefined) {
    const code = hasCode(error, 'SEGMENT_CORRUPT') ? { code: 'SEGMENT_CORRUPT' } : {}
    return {
      problem: {
        slug: 'internal',
        detail: 'internal server error; the log names it under this x-request-id',
        extensions: code,
        headers: {},
      },
      isOurs: true,
    }
  }
  const extensions: Record<string, unknown> = rule.code === undefined ? {} : { code: rule.code }
  for (const [member, name] of Object.entries(rule.members ?? {})) {
    extensions[name] = error.data[member]
  }
  return {
    problem: { slug: rule.slug, detail: error.message, extensions, headers: {} },
    isOurs: problemStatus(rule.slug) >= 500,
  }
}
