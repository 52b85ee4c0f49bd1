/** How much of the catalogue `tools/list` shows; what is left out can be called all the same. */
export type SurfaceMode = 'full' | 'minimal' | 'dynamic'

// From the one that shows least to the one that shows all: each is contained in the next.
const BY_WIDTH: readonly SurfaceMode[] = ['minimal', 'dynamic', 'full']

/**
 * Read a mode, in any letter case and with space around it.
 *
 * @returns `full` for anything else, so that a typing error never hides tools.
 */
export function parseSurfaceMode(text: string | undefined): SurfaceMode {
  const word = text?.trim().toLowerCase()
  return BY_WIDTH.find((mode) => mode === word) ?? 'full'
}

/** The narrower of what the operator set and what a client asked for: a client never widens. */
export function narrowerSurface(
  operator: SurfaceMode,
  client: SurfaceMode | undefined,
): SurfaceMode {
  const width = (mode: SurfaceMode): number => BY_WIDTH.indexOf(mode)
  return client !== undefined && width(client) < width(operator) ? client : operator
}
