import {
  CLIENT_LIMITS,
  SURFACE_CHOICES,
  type SurfaceChoice,
  surfaceFor,
  surfaceSizes,
  tools,
} from 'crux-mcp'
import type { ClientDefinition } from './client-definitions.js'
import type { Connection } from './connection.js'

const QUERY = 'surface'
const VARIABLE = 'CRUX_TOOL_SURFACE'

/** The surface that leaves a client room for other tools; undefined is all tools. */
export function surfaceOf({ limits }: ClientDefinition): SurfaceChoice | undefined {
  const most = CLIENT_LIMITS.find(({ id }) => id === limits)?.tools?.value
  const counts = { full: 0, dynamic: 0, minimal: 0 }
  for (const { surface, tools: count } of surfaceSizes(tools)) counts[surface] = count
  return asChoice(surfaceFor(most, counts))
}

/** The surface that a connection asks for. */
export function surfaceIn(connection: Connection): SurfaceChoice | undefined {
  if (connection.kind === 'stdio') return asChoice(connection.env[VARIABLE])
  if (!URL.canParse(connection.url)) return undefined
  return asChoice(new URL(connection.url).searchParams.get(QUERY))
}

/** The same connection, asking for a surface. */
export function withSurface(
  connection: Connection,
  surface: SurfaceChoice | undefined,
): Connection {
  if (surface === undefined) return connection
  if (connection.kind === 'stdio') {
    return { ...connection, env: { ...connection.env, [VARIABLE]: surface } }
  }
  const url = new URL(connection.url)
  url.searchParams.set(QUERY, surface)
  return { ...connection, url: url.href }
}

function asChoice(text: string | null | undefined): SurfaceChoice | undefined {
  return SURFACE_CHOICES.find((choice) => choice === text)
}
