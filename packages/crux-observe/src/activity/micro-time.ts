import { parseTime, toStoredTime } from 'crux-types'

/** RFC 3339 time in UTC with six decimals. @param micros - Microseconds since 1970; at least 0. */
export function toMicroTime(micros: number): string {
  const rest = String(micros % 1000).padStart(3, '0')
  return toStoredTime(Math.floor(micros / 1000)).replace('Z', `${rest}Z`)
}

/** Microseconds since 1970 of an RFC 3339 time; undefined when the text is none. */
export function parseMicroTime(text: string): number | undefined {
  const millis = parseTime(text)
  if (millis === undefined) return undefined
  const [, beyond = ''] = /\.\d{3}(\d{1,3})/.exec(text) ?? []
  return millis * 1000 + Number(beyond.padEnd(3, '0'))
}
