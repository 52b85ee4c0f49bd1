import type { Caller } from 'crux-types'
import { isExtensionTool } from '../listing/tool-capability.js'
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../protocol/codes.js'
import { readInstalled } from './extension-record.js'
import {
  ALIAS_PREFIX,
  aliasesOf,
  type ExtensionToolsOptions,
  installedTools,
} from './extension-tools.js'

/** Why a call fails, as an error of JSON-RPC. */
export interface CallRefusal {
  readonly code: number
  readonly message: string
}

/**
 * Build what answers a call of a tool of an extension, by its name or its alias: the refusal, since
 * nothing runs extensions yet.
 *
 * @returns A function from the called name; it gives undefined for names that are no extension's.
 */
export function createExtensionCall(
  options: ExtensionToolsOptions,
): (name: string, caller: Caller) => Promise<CallRefusal | undefined> {
  const isInstalled = async (name: string, caller: Caller): Promise<boolean> => {
    const tools = installedTools(await readInstalled(options.services.facts, caller))
    const own = aliasesOf(tools, options.isBuiltIn).get(name) ?? name
    return tools.some(({ tool }) => tool.name === own)
  }
  return async (name, caller) => {
    const hasName = caller.agent !== null && caller.agent.trim() !== ''
    if (!isExtensionTool(name)) {
      const isAlias = hasName && name.startsWith(ALIAS_PREFIX) && (await isInstalled(name, caller))
      return isAlias ? NOT_RUN : undefined
    }
    if (!hasName) return NAMELESS
    if (await isInstalled(name, caller)) return NOT_RUN
    return { code: METHOD_NOT_FOUND, message: `unknown extension tool: ${name}` }
  }
}

const NAMELESS: CallRefusal = {
  code: INVALID_PARAMS,
  message: 'extension tool call requires an RCX passport-bound context',
}
const NOT_RUN: CallRefusal = {
  code: METHOD_NOT_FOUND,
  message: 'daemon loopback URL is not configured for extension dispatch',
}
