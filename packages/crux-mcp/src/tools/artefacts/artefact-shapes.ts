import type { Artefact } from 'crux-memory'
import { z } from 'zod'
import { answer, type ToolResult } from '../../result/tool-result.js'
import type { CallContext } from '../define-tool.js'
import { responseTime } from '../memory/fact-shapes.js'
import { identityRequired } from '../refusals.js'

/** An artefact as answers show it. */
export const artefactSchema = z.strictObject({
  artefact_id: z.string().describe('art_ and the BLAKE3 of the bytes in hex.'),
  mime_type: z.string(),
  tool_origin: z.string().nullable(),
  size_bytes: z.int(),
  created_at: z.string().describe('RFC 3339.'),
  expires_at: z.string().nullable().describe('RFC 3339; null when it never expires.'),
})

/** What a tool of this plane answers while artefacts are off. */
export const artefactsOffShape = {
  feature_enabled: z.literal(false).optional(),
  feature_flag: z.string().optional(),
  tool: z.string().optional(),
}

/** An argument that clients of other versions send. */
export const unusedBudget = z
  .unknown()
  .optional()
  .meta({ type: 'integer' })
  .describe('Taken from any client and without effect: these answers are not cut.')

const FLAG = 'CORECRUXD_FEATURE_ARTEFACTS'

/**
 * The answer of a tool while artefacts are off; undefined when they are on.
 *
 * @throws {CruxError} `ARGUMENTS_INVALID` for a caller without a name.
 */
export function artefactGate(tool: string, call: CallContext): ToolResult | undefined {
  if (!call.features.artefacts) {
    return answer(`${tool} disabled: set ${FLAG}=1 on the daemon to enable`, {
      structured: { feature_enabled: false, feature_flag: FLAG, tool },
    })
  }
  if (call.caller.agent === null && call.caller.identity === null) {
    throw identityRequired(`${tool} requires an authenticated agent identity (passport)`)
  }
  return undefined
}

/** An artefact with its times in the form of answers. */
export function shownArtefact(artefact: Artefact): z.output<typeof artefactSchema> {
  const { artefact_id, mime_type, tool_origin, size_bytes, created_at, expires_at } = artefact
  return {
    artefact_id,
    mime_type,
    tool_origin,
    size_bytes,
    created_at: responseTime(created_at),
    expires_at: expires_at === null ? null : responseTime(expires_at),
  }
}
