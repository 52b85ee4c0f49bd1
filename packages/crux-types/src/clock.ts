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

/** Stored form of a time: RFC 3339 in UTC with milliseconds, ending in `Z`. */
export function toStoredTime(ms: number): string {
  return new Date(ms).toISOString()
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
