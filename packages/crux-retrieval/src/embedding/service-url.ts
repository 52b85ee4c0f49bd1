import { CruxError } from 'crux-types'
import type { RetrievalErrorCode } from '../errors.js'

/**
 * Whether an address can be that of an embedding service: http or https, without credentials,
 * query and fragment.
 */
export function isServiceUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ''
}

/**
 * The address without slashes at its end.
 *
 * @throws {CruxError} `EMBED_URL_INVALID`.
 */
export function serviceBase(text: string): string {
  if (isServiceUrl(text)) return text.trim().replace(/\/+$/, '')
  const shown = text.replace(/\/\/[^/@]*@/, '//')
  throw new CruxError<RetrievalErrorCode>(
    'EMBED_URL_INVALID',
    `'${shown}' is no address of an embedding service; give http://HOST:PORT or https://HOST/PATH without credentials, query and fragment, and keys in their own setting`,
    { data: { url: shown } },
  )
}
