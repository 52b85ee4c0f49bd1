import { blake3 } from '@noble/hashes/blake3.js'
import type { LocalPlanContext } from 'crux-session'
import { z } from 'zod'
import type { Tool } from '../define-tool.js'

/** For each capability of session plans: the tools that stand for it here. Others have none. */
const TOOLS_OF_CAPABILITY: ReadonlyMap<string, readonly string[]> = new Map([
  ['session_context', ['get_session']],
  ['journal_append', ['store_fact']],
  ['proof_verify', ['receipt_verify']],
  ['memory.readable_editable', ['memory_view', 'memory_edit']],
  ['memory.freshness', ['memory_freshness']],
  ['trace.source_linked', ['tool_trace_recent']],
  ['approval.risk_tiered', ['approval_request']],
  ['trace.typed_actions', ['tool_trace_recent']],
  ['output.verifiable_receipts', ['output_attest']],
  ['identity.continuity', ['passport_link_device']],
  ['memory.scoped_forget', ['memory_forget']],
  ['autonomy.contract', ['autonomy_contract']],
  ['audit.byo_trail', ['audit_export_bundle']],
  ['output.calm_deferred', ['status_feed']],
])

/** Capabilities whose input and output plans describe; each has one tool. */
const DESCRIBED = [
  'session_context',
  'journal_append',
  'proof_verify',
  'output.verifiable_receipts',
] as const

/** What the tools say about the capabilities of session plans. */
export interface PlanCapabilities extends Pick<LocalPlanContext, 'isServed' | 'schemas'> {
  /** The JSON schema at `/v1/session/schemas/<name>`, such as `session_context.in.json`; undefined when there is none. */
  readonly schemaText: (name: string) => string | undefined
}

/** @param tools - The tools that exist: a plan has a capability only when all of its tools do. */
export function planCapabilities(tools: readonly Tool[]): PlanCapabilities {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const texts = new Map<string, string>()
  const schemas = new Map<string, ReturnType<LocalPlanContext['schemas']>>()
  const publish = (name: string, schema: object) => {
    const text = JSON.stringify(schema)
    texts.set(name, text)
    const hash = blake3(Buffer.from(text))
    return { kind: 'json-schema' as const, uri: `/v1/session/schemas/${name}`, hash }
  }
  for (const cap of DESCRIBED) {
    const tool = byName.get(TOOLS_OF_CAPABILITY.get(cap)?.[0] ?? '')
    if (tool === undefined) continue
    schemas.set(cap, {
      input_schema: publish(`${cap}.in.json`, tool.inputSchema),
      output_schema:
        tool.output === undefined
          ? null
          : publish(`${cap}.out.json`, z.toJSONSchema(tool.output, { io: 'output' })),
    })
  }
  return {
    isServed: (cap) => TOOLS_OF_CAPABILITY.get(cap)?.every((name) => byName.has(name)) ?? false,
    schemas: (cap) => schemas.get(cap) ?? { input_schema: null, output_schema: null },
    schemaText: (name) => texts.get(name),
  }
}
