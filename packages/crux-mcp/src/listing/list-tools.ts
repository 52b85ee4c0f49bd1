import type { Caller } from 'crux-types'
import type { CapabilityGate } from '../gates/call-gates.js'
import type { Tool } from '../tools/define-tool.js'
import { baseCatalogue, type CatalogueFlags } from './base-catalogue.js'
import { type ListableTool, type ListedTool, listedTool, stampMeta } from './listed-tool.js'
import { ListingCache } from './listing-cache.js'
import { type Leaning, shapeSurface } from './shape-surface.js'
import { narrowerSurface, type SurfaceMode } from './surface-mode.js'
import type { TokenStamp } from './tool-capability.js'

/** Whose list, and how much of it. */
export interface ListRequest {
  readonly caller: Caller
  /** What the client asked for; it can only narrow what the operator set. */
  readonly surface?: SurfaceMode | undefined
  /** List tools of extensions by their alias, whatever the operator set. */
  readonly extensionAliases?: boolean | undefined
}

/** The answer to `tools/list`. */
export interface ToolListing {
  readonly mode: SurfaceMode
  readonly tools: readonly ListedTool[]
  /** JSON text of the result. */
  readonly text: string
}

/** A tool of an extension that the caller may see. */
export interface ExtensionTool extends ListableTool {
  /** Its name where `name` is an alias: what a token permits goes by it. */
  readonly ownName: string
  /** Changes with what the entry is made of. */
  readonly revision: string
}

/** What lists are made from. */
export interface ListSources {
  /** Built-in tools, in the order of the catalogue. */
  readonly tools: readonly Tool[]
  readonly flags?: CatalogueFlags
  /** How much is shown; asked for at each list. Default `full`. */
  readonly surface?: (() => SurfaceMode) | undefined
  /** What `dynamic` goes by; nothing when absent. */
  readonly leaningOf?: (caller: Caller) => Leaning
  /** Decides what callers with a capability token see; the others see everything. */
  readonly capabilities?: CapabilityGate | undefined
  /**
   * Tools of extensions for the holder of a passport, by name.
   *
   * @param passport - Subject of the capability token, else the agent's name; never blank.
   * @param useAliases - By names with `_` in the place of dots.
   */
  readonly extensionTools?: (
    caller: Caller,
    passport: string,
    useAliases: boolean,
  ) => Promise<readonly ExtensionTool[]>
  /** List tools of extensions by their alias for everybody; default false. */
  readonly extensionAliases?: boolean | undefined
}

const NO_LEANING: Leaning = { bias: () => 0, recentTools: [] }

/**
 * Build the answer to `tools/list`: what is there, less what the caller's token does not permit,
 * then the caller's extension tools, permitted likewise, then the surface, which only narrows.
 *
 * A list is written once per token, surface and tools on it; see {@link ListingCache} for the bound.
 * It is answered at once for callers without a name, who have no extension tools.
 */
export function createToolLister(
  sources: ListSources,
): (request: ListRequest) => ToolListing | Promise<ToolListing> {
  const catalogue = baseCatalogue(sources.tools, sources.flags)
  const entries = new Map(catalogue.map((tool) => [tool.name, written(tool)]))
  const cache = new ListingCache<ToolListing>()

  return (request) => {
    const { caller } = request
    const token = sources.capabilities?.tokenOf(caller)
    const isPermitted = (tool: string): boolean =>
      token === undefined || sources.capabilities?.deny(tool, caller) === undefined
    const builtIn =
      token === undefined ? catalogue : catalogue.filter(({ name }) => isPermitted(name))

    const finish = (extensions: readonly ExtensionTool[]): ToolListing => {
      const permitted = extensions.filter(({ ownName }) => isPermitted(ownName))
      const all = permitted.length === 0 ? builtIn : [...builtIn, ...permitted]
      const mode = narrowerSurface(sources.surface?.() ?? 'full', request.surface)
      const leaning = mode === 'dynamic' ? sources.leaningOf?.(caller) : undefined
      const shown = shapeSurface(all, mode, leaning ?? NO_LEANING)
      const stamp = token?.stamp
      return cache.get(keyOf(mode, shown, stamp), () => write(mode, shown, stamp))
    }

    const passport = token?.passport ?? caller.agent
    if (sources.extensionTools === undefined || isBlank(passport)) return finish([])
    const useAliases = sources.extensionAliases === true || request.extensionAliases === true
    return sources.extensionTools(caller, passport, useAliases).then(finish)
  }

  function write(
    mode: SurfaceMode,
    shown: readonly ListableTool[],
    stamp: TokenStamp | undefined,
  ): ToolListing {
    const pieces = shown.map(
      (tool) => (stamp === undefined && entries.get(tool.name)) || written(tool, stamp),
    )
    const meta = stamp === undefined ? '' : `,"_meta":${JSON.stringify({ crux: stampMeta(stamp) })}`
    return {
      mode,
      tools: pieces.map(({ entry }) => entry),
      text: `{"tools":[${pieces.map(({ text }) => text).join(',')}]${meta}}`,
    }
  }
}

interface WrittenTool {
  readonly entry: ListedTool
  readonly text: string
}

function written(tool: ListableTool, stamp?: TokenStamp): WrittenTool {
  const entry = listedTool(tool, stamp)
  return { entry, text: JSON.stringify(entry) }
}

function keyOf(
  mode: SurfaceMode,
  shown: readonly (ListableTool & { readonly revision?: string })[],
  stamp: TokenStamp | undefined,
): string {
  const names = shown.map(({ name, revision = '' }) => `${name}@${revision}`)
  return JSON.stringify([mode, stamp ?? null, names])
}

function isBlank(text: string | null | undefined): text is null | undefined | '' {
  return text === null || text === undefined || text.trim() === ''
}
