import type { Caller } from 'crux-types'
import { consequenceOf } from '../listing/consequence.js'
import type { ExtensionTool } from '../listing/list-tools.js'
import { portabilityProblems } from '../listing/portable-schema.js'
import { capabilityOf, EXTENSION_PREFIX, isExtensionTool } from '../listing/tool-capability.js'
import {
  type ExtensionGrant,
  type InstalledExtension,
  type RecordSource,
  readGrants,
  readInstalled,
} from './extension-record.js'

/** What clients and models take as the name of a tool, but for the dots of extensions. */
const TOOL_NAME = /^ext\.[A-Za-z0-9._-]{1,60}$/

/** Most tools of extensions on one list. */
export const MAX_EXTENSION_TOOLS = 256

/** A tool of an installed extension, whoever may use it. */
export interface InstalledTool {
  readonly extension: InstalledExtension
  readonly tool: InstalledExtension['manifest']['tools'][number]
}

/**
 * The tools of all installed extensions that can be listed: under `ext.`, with a name that models
 * take and nobody else has, and with a schema that clients take. Installing refuses the others; a
 * record that came about otherwise is held to the same rules here.
 */
export function installedTools(installed: readonly InstalledExtension[]): readonly InstalledTool[] {
  const taken = new Set<string>()
  return [...installed]
    .sort((a, b) => compare(a.manifest.id, b.manifest.id))
    .flatMap((extension) => extension.manifest.tools.map((tool) => ({ extension, tool })))
    .filter(({ tool: { name, input_schema } }) => {
      if (!isExtensionTool(name) || !TOOL_NAME.test(name) || taken.has(name)) return false
      if (portabilityProblems(input_schema).length > 0) return false
      taken.add(name)
      return true
    })
}

/** Start of the aliases of extension tools. */
export const ALIAS_PREFIX = aliasOf(EXTENSION_PREFIX)

/** The name of an extension tool with `_` in the place of dots, which some clients refuse. */
export function aliasOf(name: string): string {
  return name.replaceAll('.', '_')
}

/**
 * Names by alias, for those whose alias is nobody else's: with it, a tool is listed and called; a tool
 * whose alias is taken keeps its own name.
 */
export function aliasesOf(
  tools: readonly InstalledTool[],
  isTaken: (name: string) => boolean,
): ReadonlyMap<string, string> {
  const aliases = new Map<string, string>()
  const ambiguous = new Set<string>()
  for (const { tool } of tools) {
    const alias = aliasOf(tool.name)
    if (aliases.has(alias)) ambiguous.add(alias)
    aliases.set(alias, tool.name)
  }
  return new Map([...aliases].filter(([alias]) => !ambiguous.has(alias) && !isTaken(alias)))
}

/** What {@link createExtensionTools} reads and decides by. */
export interface ExtensionToolsOptions {
  readonly services: { readonly facts: RecordSource }
  /** Whether a built-in tool has that name. */
  readonly isBuiltIn: (name: string) => boolean
}

/** The options of a server, as far as extensions go. */
export function extensionOptions(host: {
  readonly services: ExtensionToolsOptions['services']
  readonly tools: readonly { readonly name: string }[]
}): ExtensionToolsOptions {
  const names = new Set(host.tools.map(({ name }) => name))
  return {
    services: host.services,
    isBuiltIn: (name) => names.has(name),
  }
}

/**
 * Build the reader of the extension tools that the holder of a passport may see, sorted by name; at
 * most {@link MAX_EXTENSION_TOOLS}.
 */
export function createExtensionTools(
  options: ExtensionToolsOptions,
): (caller: Caller, passport: string, useAliases: boolean) => Promise<readonly ExtensionTool[]> {
  return async (caller, passport, useAliases) => {
    const { facts } = options.services
    const grants = await readGrants(facts, caller, passport)
    if (grants.length === 0) return []
    const tools = installedTools(await readInstalled(facts, caller))
    const aliases = useAliases ? aliasesOf(tools, options.isBuiltIn) : undefined
    return tools
      .filter(({ extension, tool }) =>
        grants.some((grant) => permits(grant, extension.manifest.id, tool.name)),
      )
      .map((installed) => listable(installed, aliases))
      .sort((a, b) => compare(a.name, b.name))
      .slice(0, MAX_EXTENSION_TOOLS)
  }
}

function permits(grant: ExtensionGrant, extensionId: string, tool: string): boolean {
  return (
    grant.extension_id === extensionId &&
    (grant.allowed_tool_names.length === 0 || grant.allowed_tool_names.includes(tool))
  )
}

function listable(
  { extension, tool }: InstalledTool,
  aliases: ReadonlyMap<string, string> | undefined,
): ExtensionTool {
  const { manifest, manifest_hash, trust_tier, revision } = extension
  const alias = aliasOf(tool.name)
  return {
    name: aliases?.has(alias) === true ? alias : tool.name,
    description: `[local][extension:${manifest.id}][trust:${camelCase(trust_tier)}] ${tool.description}`,
    inputSchema: {
      ...tool.input_schema,
      'x-crux-extension': {
        extension_id: manifest.id,
        manifest_hash,
        trust_tier,
        rcx_capability: capabilityOf(tool.name).capability,
      },
      'x-crux-consequence-metadata': tool.consequence_metadata ?? consequenceOf(tool.name),
    },
    ownName: tool.name,
    revision,
  }
}

function camelCase(slug: string): string {
  return slug.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

// By code unit: the same order on every machine.
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
