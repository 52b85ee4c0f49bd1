import type { Artefact } from 'crux-memory'
import { type Caller, parseTime } from 'crux-types'
import { z } from 'zod'
import {
  auditEnvelope,
  auditEnvelopeSchema,
  freshnessByAge,
  withAudit,
} from '../../result/audit-envelope.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count } from '../fields.js'
import {
  artefactGate,
  artefactSchema,
  artefactsOffShape,
  shownArtefact,
  unusedBudget,
} from './artefact-shapes.js'

const HOUR_MS = 3_600_000
const HOURS_A_DAY = 24

const input = z.object({
  top_k: count().default(20).describe('Most artefacts that are looked at, the newest ones.'),
  scope: z
    .string()
    .optional()
    .describe(
      'Of those, only the ones whose type holds this text or whose origin is exactly this.',
    ),
  token_budget: unusedBudget,
})

const output = z
  .object({ artefacts: z.array(artefactSchema), count: z.int() })
  .partial()
  .extend({ ...artefactsOffShape, envelope: auditEnvelopeSchema.optional() })

/** Artefacts of the caller. */
export const artefactList = defineTool({
  name: 'artefact_list',
  plane: 'artefacts',
  effect: 'read',
  description: 'List the artefacts that you put and that have not expired, the newest first.',
  outputDoc:
    'Text: <n> artefact(s) for passport <name>; structuredContent {artefacts [{artefact_id, mime_type, tool_origin, size_bytes, created_at, expires_at}], count}.',
  input,
  boundedBy: 'top_k',
  output,
  before: (call) => artefactGate('artefact_list', call),
  run: async (
    { top_k, scope },
    { substrate, clock }: Pick<Services, 'substrate' | 'clock'>,
    { caller, features },
  ) => {
    const found = await substrate.artefacts.list(caller, {
      topK: top_k,
      ...(scope === undefined ? {} : { scope }),
    })
    const owner = caller.agent ?? caller.identity
    const result = answer(`${found.length} artefact(s) for passport ${owner}`, {
      structured: { artefacts: found.map(shownArtefact), count: found.length },
    })
    return features.auditEnvelope ? withAudit(result, audit(caller, found, clock.now())) : result
  },
})

function audit(caller: Caller, artefacts: readonly Artefact[], now: number) {
  return auditEnvelope(caller, {
    capability: 'artefacts:read',
    receipts: [],
    memories: artefacts.map(({ artefact_id, mime_type, created_at }) => {
      const age = Math.floor((now - (parseTime(created_at) ?? now)) / HOUR_MS)
      const ageHours = age < 0 ? null : age
      const ageDays = ageHours === null ? null : Math.floor(ageHours / HOURS_A_DAY)
      return {
        fact_id: artefact_id,
        topic: mime_type,
        age_days: ageDays,
        age_hours: ageHours,
        freshness: freshnessByAge(ageDays),
      }
    }),
  })
}
