import type { SurfaceMode } from '../listing/surface-mode.js'

/** Surfaces that a client may choose for itself: those that show less than everything. */
export const SURFACE_CHOICES = ['minimal', 'dynamic'] as const satisfies readonly SurfaceMode[]

export type SurfaceChoice = (typeof SURFACE_CHOICES)[number]

/** The answer to a choice that there is not. */
export const INVALID_SURFACE_BODY = JSON.stringify({
  error: 'invalid_surface',
  hint: `surface must be one of ${SURFACE_CHOICES.join(', ')}; leave it out for what the operator chose`,
})

/**
 * Read `surface` from the query of an endpoint's address, such as `/mcp?surface=minimal`.
 *
 * @param query - What stands after the `?`; empty when there is none.
 * @returns The choice; undefined when none is made; null when it is none of those that exist, or made twice.
 */
export function readSurfaceChoice(query: string): SurfaceChoice | undefined | null {
  if (query === '') return undefined
  const [given, ...others] = new URLSearchParams(query).getAll('surface')
  if (given === undefined) return undefined
  const word = given.trim().toLowerCase()
  const choice = SURFACE_CHOICES.find((one) => one === word)
  return choice === undefined || others.length > 0 ? null : choice
}
