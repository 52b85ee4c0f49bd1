/** Where time comes from; injected, so that tests decide what time it is. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() }

/** A clock that stands still until told otherwise. */
export class ManualClock implements Clock {
  /** @param ms - Milliseconds since 1970-01-01 UTC at which the clock stands. */
  constructor(private ms: number) {}

  now(): number {
    return this.ms
  }

  /** Move forward by `ms` milliseconds. */
  advance(ms: number): void {
    this.ms += ms
  }

  /** Stand at `ms` milliseconds since 1970-01-01 UTC. */
  set(ms: number): void {
    this.ms = ms
  }
}

/**
 * Stored form of a time: RFC 3339 in UTC with milliseconds, ending in `Z`.
 *
 * @throws {RangeError} If `ms` is no time of the calendar.
 */
export function toStoredTime(ms: number): string {
  if (!(Math.abs(ms) <= MAX_TIME_MS)) throw new RangeError(`${ms} is no time of the calendar`)
  const whole = Math.trunc(ms)
  const day = Math.floor(whole / DAY_MS)
  // Answers hold many times of few days, and formatting a date is the dear part of each.
  if (day !== lastDay) {
    const text = new Date(whole).toISOString()
    // Years of more than four digits; nobody stores many of them.
    if (text.length !== LAST_TIME.length) return text
    LAST_TIME.write(text, 'latin1')
    lastDay = day
  }
  // Digits are put into one buffer: a text put together from parts is several times as dear, and is
  // flattened again by who reads it.
  const rest = (whole - day * DAY_MS) | 0
  const milliseconds = rest % 1000
  putTwoDigits(11, (rest / HOUR_MS) | 0)
  putTwoDigits(14, ((rest / MINUTE_MS) | 0) % 60)
  putTwoDigits(17, ((rest / 1000) | 0) % 60)
  LAST_TIME[20] = ZERO + ((milliseconds / 100) | 0)
  putTwoDigits(21, milliseconds % 100)
  return LAST_TIME.toString('latin1')
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Bound of what a `Date` holds, on either side of 1970. */
const MAX_TIME_MS = 8_640_000_000_000_000
const ZERO = 0x30
/** The text of the last time that was asked for. */
const LAST_TIME = Buffer.from('1970-01-01T00:00:00.000Z')
let lastDay: number | undefined

function putTwoDigits(at: number, value: number): void {
  const tens = (value / 10) | 0
  LAST_TIME[at] = ZERO + tens
  LAST_TIME[at + 1] = ZERO + value - tens * 10
}

/** Response form of a time: RFC 3339 in UTC, ending in `+00:00`. */
export function toResponseTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '+00:00')
}

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

/** Milliseconds since 1970-01-01 UTC of an RFC 3339 time; undefined when the text is not one. */
export function parseTime(text: string): number | undefined {
  if (!RFC3339.test(text)) return undefined
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}
