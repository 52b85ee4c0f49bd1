import type { Freshness, HorizonClass } from './fact.js'

/** The four classes, fastest first. */
export const HORIZON_CLASSES: readonly HorizonClass[] = ['volatile', 'medium', 'stable', 'none']

/** How long facts stay fresh, in milliseconds; class `none` has no end. */
export interface Horizons {
  readonly volatile: number
  readonly medium: number
  readonly stable: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The horizons in force: 24 hours, 35 days and 365 days unless given. */
export function horizonsOf(
  decay: { volatileHours?: number; mediumDays?: number; stableDays?: number } = {},
): Horizons {
  return {
    volatile: (decay.volatileHours ?? 24) * HOUR_MS,
    medium: (decay.mediumDays ?? 35) * DAY_MS,
    stable: (decay.stableDays ?? 365) * DAY_MS,
  }
}

// The first start that fits decides.
const CLASS_BY_START: readonly (readonly [string, HorizonClass])[] = [
  ['__ops::', 'volatile'],
  ['bench:', 'stable'],
  ['__bootstrap__::', 'stable'],
  ['execplan:', 'medium'],
  ['incident:', 'medium'],
  ['__candidate_fact__::', 'medium'],
]

/** The class of a fact whose writer named none. */
export function defaultHorizonClass(entity: string): HorizonClass {
  return CLASS_BY_START.find(([start]) => entity.startsWith(start))?.[1] ?? 'none'
}

const STABLE_WORDS = /stable|frozen|immutable|historical|architect|year/
const DAYS_STILL_VOLATILE = 2

/**
 * The class that free text about durability asks for, such as `2 days` or `about a month`.
 *
 * @returns `none` when the text says nothing that is known.
 */
export function parseHorizon(text: string): HorizonClass {
  const words = text.toLowerCase()
  if (words.includes('hour')) return 'volatile'
  if (STABLE_WORDS.test(words)) return 'stable'
  if (words.includes('month') || words.includes('week')) return 'medium'
  if (!words.includes('day')) return 'none'
  const days = /\d+/.exec(words)
  return days !== null && Number(days[0]) <= DAYS_STILL_VOLATILE ? 'volatile' : 'medium'
}

const MOST_STRETCH = 4

/**
 * How many times longer a fact stays fresh that was recalled often: one and a quarter of the natural
 * logarithm of the recalls, at most 4.
 *
 * @param recalls - Whole number from 0, which gives 1.
 */
export function horizonStretch(recalls: number): number {
  return Math.min(Math.max(1 + 0.25 * Math.log(1 + recalls), 1), MOST_STRETCH)
}

/**
 * Whether a fact is within its horizon; exactly at its end it still is.
 *
 * @param anchor - When it was last verified, else stored; milliseconds since 1970-01-01 UTC.
 * @param now - Milliseconds since 1970-01-01 UTC.
 * @param recalls - How often it was recalled, where that counts.
 */
export function freshnessAt(
  horizons: Horizons,
  horizonClass: HorizonClass,
  anchor: number,
  now: number,
  recalls = 0,
): Freshness {
  if (horizonClass === 'none') return 'fresh'
  if (!(anchor > 0 && now > 0 && anchor <= now)) return 'unknown'
  const horizon = horizons[horizonClass]
  const end = recalls === 0 ? horizon : Math.trunc(horizon * horizonStretch(recalls))
  return now - anchor > end ? 'stale' : 'fresh'
}

/** Confidence after decay: halved once when stale, never written back. */
export function effectiveConfidence(confidence: number, freshness: Freshness): number {
  return freshness === 'stale' ? confidence * 0.5 : confidence
}

/** Whole hours since the anchor, at least 0; both in milliseconds. */
export function ageHours(anchor: number, now: number): number {
  return Math.max(Math.floor((now - anchor) / HOUR_MS), 0)
}
