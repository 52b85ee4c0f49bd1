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
    lastDayText = new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length)
    lastDay = day
  }
  let rest = whole - day * DAY_MS
  const milliseconds = rest % 1000
  rest = (rest - milliseconds) / 1000
  const seconds = rest % 60
  rest = (rest - seconds) / 60
  const minutes = rest % 60
  const hours = (rest - minutes) / 60
  const fraction = `${milliseconds < 100 ? '0' : ''}${twoDigits(milliseconds)}`
  return `${lastDayText}${twoDigits(hours)}:${twoDigits(minutes)}:${twoDigits(seconds)}.${fraction}Z`
}

const DAY_MS = 86_400_000
/** Bound of what a `Date` holds, on either side of 1970. */
const MAX_TIME_MS = 8_640_000_000_000_000
let lastDay: number | undefined
let lastDayText = ''

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value)
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
