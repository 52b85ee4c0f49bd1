import { advertiseContract } from '../result/crc-v1.js'
import { consequenceOf } from './consequence.js'
import type { Tool } from './define-tool.js'

/** One tool as `tools/list` shows it. */
export function listedTool(tool: Tool): Record<string, unknown> {
  return {
    name: tool.name,
    description: `[local] ${tool.description}`,
    inputSchema: tool.inputSchema,
    _meta: { crux: { consequence_metadata: consequenceOf(tool.name) } },
    ...(tool.crc === undefined ? {} : { 'x-crux-output-schema': advertiseContract(tool.crc) }),
  }
}

/** JSON text of the result of `tools/list`. */
export function listTools(tools: readonly Tool[]): string {
  return JSON.stringify({ tools: tools.map(listedTool) })
}
