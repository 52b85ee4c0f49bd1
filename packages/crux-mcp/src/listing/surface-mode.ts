/** How much of the catalogue a list can show: each of these is contained in the next. */
export const SURFACE_MODES = ['minimal', 'dynamic', 'full'] as const

/** How much of the catalogue `tools/list` shows; what is left out can be called all the same. */
export type SurfaceMode = (typeof SURFACE_MODES)[number]

/** The narrower of what the operator set and what a client asked for: a client never widens. */
export function narrowerSurface(
  operator: SurfaceMode,
  client: SurfaceMode | undefined,
): SurfaceMode {
  const width = (mode: SurfaceMode): number => SURFACE_MODES.indexOf(mode)
  return client !== undefined && width(client) < width(operator) ? client : operator
}
