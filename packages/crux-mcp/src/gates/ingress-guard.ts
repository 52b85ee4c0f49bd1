import { isIP } from 'node:net'
import { isLoopbackHost } from './loopback.js'

/** Why a request is turned away before anything of it is read. */
export interface IngressRefusal {
  readonly status: 403 | 415
  /** For programs: `host_not_allowed`, `origin_not_allowed` or `unsupported_media_type`. */
  readonly error: string
  /** For people: what to send or to set. */
  readonly hint: string
}

/** Checks that every listener makes, whatever it serves. They read only headers. */
export interface IngressGuard {
  /** Host and Origin; undefined when both are welcome. */
  checkSource(headers: {
    readonly host?: string | undefined
    readonly origin?: string | undefined
  }): IngressRefusal | undefined
  /** `Content-Type` of a request with a body; undefined when it is JSON. */
  checkContentType(contentType: string | undefined): IngressRefusal | undefined
}

export interface IngressGuardOptions {
  /** Address the listener is bound to. */
  readonly boundHost: string
  /** Further host names, with or without a port. */
  readonly allowedHosts: readonly string[]
  /** Further origins, such as `https://console.example`. */
  readonly allowedOrigins: readonly string[]
}

const JSON_TYPE = 'application/json'
/** What a malformed host comes to; it is served nowhere. */
const UNNAMED = ''
const WILDCARD_BINDS: readonly string[] = ['0.0.0.0', '::', UNNAMED]

/**
 * Build the checks that keep web pages away from a local listener.
 *
 * A page can make a browser send requests here, and DNS rebinding makes them look local; both show
 * in the Host and Origin headers. Served are loopback names, the bound address and what the
 * operator lists. On a wildcard bind any literal address is served as Host: rebinding needs a name.
 */
export function createIngressGuard(options: IngressGuardOptions): IngressGuard {
  const bound = hostName(options.boundHost)
  const isWildcard = WILDCARD_BINDS.includes(bound)
  const names = new Set(options.allowedHosts.map(hostName).filter((name) => name !== UNNAMED))
  if (!isWildcard) names.add(bound)
  const origins = new Set(options.allowedOrigins.map(originKey))

  const isServedHost = (name: string): boolean =>
    names.has(name) || isLoopbackHost(name) || (isWildcard && isIP(name) !== 0)
  const isServedOrigin = (origin: string): boolean => {
    if (origins.has(origin.toLowerCase())) return true
    const url = parseUrl(origin)
    if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false
    const name = hostName(url.host)
    return origins.has(url.origin) || isLoopbackHost(name) || (!isWildcard && name === bound)
  }

  // Requests of one client name the same host, so the last answer mostly serves again.
  let lastServed: string | undefined
  const isServed = (host: string): boolean => {
    if (host === lastServed) return true
    if (!isServedHost(hostName(host))) return false
    lastServed = host
    return true
  }

  return {
    checkSource({ host, origin }) {
      if (host === undefined || !isServed(host)) return HOST_REFUSED
      if (origin !== undefined && !isServedOrigin(origin)) return ORIGIN_REFUSED
      return undefined
    },
    checkContentType(contentType) {
      if (contentType === JSON_TYPE) return undefined
      const type = contentType?.split(';', 1)[0]?.trim().toLowerCase()
      return type === JSON_TYPE ? undefined : MEDIA_TYPE_REFUSED
    },
  }
}

const HOST_REFUSED: IngressRefusal = {
  status: 403,
  error: 'host_not_allowed',
  hint: 'the Host header names no host that is served here; use localhost or the bound address, or list the name in CORECRUXD_ALLOWED_HOSTS',
}
const ORIGIN_REFUSED: IngressRefusal = {
  status: 403,
  error: 'origin_not_allowed',
  hint: 'requests from this web origin are not served; list it in CORECRUXD_ALLOWED_ORIGINS if it is yours',
}
const MEDIA_TYPE_REFUSED: IngressRefusal = {
  status: 415,
  error: 'unsupported_media_type',
  hint: 'send the body as Content-Type: application/json',
}

/** The name of `name`, `name:port`, `[v6]` or `[v6]:port`, in lower case, without a final dot. */
function hostName(host: string): string {
  const text = host.trim().toLowerCase()
  if (text.startsWith('[')) {
    const end = text.indexOf(']')
    return end < 0 ? UNNAMED : text.slice(1, end)
  }
  const colon = text.indexOf(':')
  // More than one colon is an IPv6 address without brackets.
  const name = colon >= 0 && text.indexOf(':', colon + 1) < 0 ? text.slice(0, colon) : text
  return name.endsWith('.') ? name.slice(0, -1) : name
}

/** An origin in the form in which origins are compared. */
export function originKey(origin: string): string {
  const url = parseUrl(origin)
  // Schemes that browsers do not know, such as an editor's own, have the opaque origin `null`.
  return url === undefined || url.origin === 'null' ? origin.trim().toLowerCase() : url.origin
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}
