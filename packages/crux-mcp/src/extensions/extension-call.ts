import type { Caller } from 'crux-types'
import { isExtensionTool } from '../listing/tool-capability.js'
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../protocol/codes.js'
import { type RecordSource, readInstalled } from './extension-record.js'
import { aliasesOf, type ExtensionToolsOptions, installedTools } from './extension-tools.js'

/** Why a call fails, as an error of JSON-RPC. */
export interface CallRefusal {
  readonly code: number
  readonly message: string
}

/**
 * Build what answers a call of a tool of an extension: the refusal, since nothing runs extensions yet.
 *
 * @returns A function from the called name; it gives undefined for names that are no extension's.
 */
export function createExtensionCall(
  options: ExtensionToolsOptions,
): (name: string, caller: Caller) => Promise<CallRefusal> | undefined {
  const isAlias = (name: string): boolean => options.useAliases && name.startsWith('ext_')
  return (name, caller) =>
    isExtensionTool(name) || isAlias(name) ? refuse(name, caller, options) : undefined
}

async function refuse(
  name: string,
  caller: Caller,
  { services, isBuiltIn }: ExtensionToolsOptions,
): Promise<CallRefusal> {
  if (caller.agent === null || caller.agent.trim() === '') {
    return {
      code: INVALID_PARAMS,
      message: 'extension tool call requires an RCX passport-bound context',
    }
  }
  if (!(await isInstalled(name, caller, services.facts, isBuiltIn))) {
    return { code: METHOD_NOT_FOUND, message: `unknown extension tool: ${name}` }
  }
  return {
    code: METHOD_NOT_FOUND,
    message: 'daemon loopback URL is not configured for extension dispatch',
  }
}

async function isInstalled(
  name: string,
  caller: Caller,
  facts: RecordSource,
  isBuiltIn: (name: string) => boolean,
): Promise<boolean> {
  const tools = installedTools(await readInstalled(facts, caller))
  const own = isExtensionTool(name) ? name : aliasesOf(tools, isBuiltIn).get(name)
  return tools.some(({ tool }) => tool.name === own)
}
