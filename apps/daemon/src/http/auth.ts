import { createSecretKey, type KeyObject } from 'node:crypto'
import { CruxError } from 'crux-types'
import { errors, type JWTPayload, jwtVerify } from 'jose'
import type { Config } from '../config/load.js'
import type { DaemonErrorCode } from '../errors.js'
import { ProblemError } from './problem.js'

/** What a request proves about its sender. */
export interface Principal {
  readonly scopes: readonly string[] | '*'
  /** Tenants that the token allows; empty when it names none. */
  readonly tenants: readonly string[] | '*'
  /** Passport that the token proves; null when it proves none. */
  readonly passport: string | null
}

/** Reads who sent a request. @throws {ProblemError} 401 when nothing proves it. */
export type Authenticate = (header: (name: string) => string | undefined) => Promise<Principal>

type AuthConfig = Pick<
  Config,
  'authMode' | 'jwtHs256Secret' | 'allowWeakHs256Secret' | 'jwtIss' | 'jwtAud'
>

const MIN_SECRET_BYTES = 32
const LEEWAY_SECONDS = 30

/**
 * The check of the configured mode.
 *
 * @throws {CruxError} `CONFIG_INVALID` when mode `jwt_hs256` has no secret or a weak one.
 */
export function createAuthenticate(config: AuthConfig): Authenticate {
  switch (config.authMode) {
    case 'off':
      return async () => ({ scopes: '*', tenants: '*', passport: null })
    case 'dev_scopes':
      return async (header) => {
        const named = header('x-corecrux-scopes') ?? bearer(header('authorization'))
        const scopes = (named ?? '').split(/[\s,]+/).filter((scope) => scope !== '')
        if (scopes.length === 0) {
          throw unauthenticated(
            'missing auth scopes',
            'name scopes in X-Corecrux-Scopes, such as query:read,facts:write',
          )
        }
        return { scopes, tenants: '*', passport: null }
      }
    case 'jwt_hs256':
      return createJwtCheck(config, readSecret(config))
  }
}

function createJwtCheck(config: AuthConfig, secret: KeyObject): Authenticate {
  const options = {
    algorithms: ['HS256'],
    clockTolerance: LEEWAY_SECONDS,
    ...(config.jwtIss === undefined ? {} : { issuer: config.jwtIss }),
    ...(config.jwtAud === undefined ? {} : { audience: config.jwtAud }),
  }
  return async (header) => {
    const token = bearer(header('authorization'))
    if (token === undefined) {
      throw unauthenticated(
        'missing bearer token',
        'send Authorization: Bearer with a signed token',
      )
    }
    let claims: JWTPayload
    try {
      claims = (await jwtVerify(token, secret, options)).payload
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
      throw unauthenticated('invalid bearer token', hintOf(error))
    }
    const principal = {
      scopes: scopesOf(claims),
      tenants: tenantsOf(claims),
      passport: passportOf(claims),
    }
    checkPassportHeader(principal, header('x-corecrux-passport-id'))
    return principal
  }
}

function readSecret(config: AuthConfig): KeyObject {
  const text = config.jwtHs256Secret
  if (text === undefined) {
    throw invalidConfig(
      'CORECRUXD_AUTH_MODE=jwt_hs256 needs CORECRUXD_JWT_HS256_SECRET; set it to at least 32 random bytes',
    )
  }
  const bytes = text.startsWith('base64:')
    ? Buffer.from(text.slice('base64:'.length), 'base64')
    : Buffer.from(text)
  if (bytes.length === 0 || (bytes.length < MIN_SECRET_BYTES && !config.allowWeakHs256Secret)) {
    throw invalidConfig(
      `CORECRUXD_JWT_HS256_SECRET has ${bytes.length} bytes; use at least ${MIN_SECRET_BYTES} (openssl rand -base64 48)`,
    )
  }
  return createSecretKey(bytes)
}

function scopesOf(claims: JWTPayload): string[] {
  const named = [claims.scope, claims.scp, claims.scopes, claims.permissions].flatMap((claim) => {
    if (typeof claim === 'string') return claim.split(/\s+/)
    return Array.isArray(claim) ? claim : []
  })
  return [...new Set(named)].filter(
    (scope): scope is string => typeof scope === 'string' && scope !== '',
  )
}

function tenantsOf(claims: JWTPayload): readonly string[] | '*' {
  const single = firstText(claims.tenant_id, claims.tenantId, claims.tid)
  const several = Array.isArray(claims.tenants) ? claims.tenants : []
  const named = [...new Set([...(single === undefined ? [] : [single]), ...several])].filter(
    (tenant): tenant is string => typeof tenant === 'string' && tenant !== '',
  )
  return named.includes('*') ? '*' : named
}

function passportOf(claims: JWTPayload): string | null {
  const { passport_id, passportId, passport, passport_fpr, passportFpr, pid, sub, subject } = claims
  const candidates = [
    passport_id,
    passportId,
    passport,
    passport_fpr,
    passportFpr,
    pid,
    sub,
    subject,
  ]
  return firstText(...candidates) ?? null
}

function checkPassportHeader(principal: Principal, named: string | undefined): void {
  if (named === undefined || named === principal.passport) return
  const { scopes } = principal
  if (scopes.includes('passport:impersonate') || scopes.includes('admin:write')) return
  throw new ProblemError(
    'forbidden',
    principal.passport === null
      ? 'the token names no passport, so X-Corecrux-Passport-Id cannot be used; leave it out'
      : 'X-Corecrux-Passport-Id differs from the passport of the token; leave it out',
    {
      extensions: {
        code: principal.passport === null ? 'PASSPORT_HEADER_UNBOUND' : 'PASSPORT_HEADER_MISMATCH',
      },
    },
  )
}

/** @throws {ProblemError} 403 unless the principal holds any of the scopes. */
export function requireAnyScope(principal: Principal, scopes: readonly string[]): void {
  const held = principal.scopes
  if (held === '*' || scopes.some((scope) => held.includes(scope))) return
  throw new ProblemError('forbidden', 'insufficient scopes', {
    extensions: { code: 'MISSING_SCOPE', missingAnyScope: scopes },
  })
}

function unauthenticated(detail: string, hint: string): ProblemError {
  return new ProblemError('unauthorized', detail, {
    extensions: { code: 'UNAUTHENTICATED', hint },
    headers: { 'www-authenticate': 'Bearer' },
  })
}

function hintOf(error: Error): string {
  if (error instanceof errors.JWTExpired) return 'the token has expired; get a new one'
  if (error instanceof errors.JWTClaimValidationFailed) {
    return `the claim '${error.claim}' is not as required; get a token for this daemon`
  }
  return 'the token is malformed or signed with another secret'
}

function bearer(authorization: string | undefined): string | undefined {
  const match = /^Bearer +(.+)$/i.exec(authorization ?? '')
  return match?.[1]?.trim()
}

function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '')
}

function invalidConfig(message: string): CruxError<DaemonErrorCode> {
  return new CruxError('CONFIG_INVALID', message, { data: { problems: [message] } })
}
