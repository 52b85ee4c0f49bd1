import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { invalidArguments } from '../parse-arguments.js'
import { capabilityDenied } from '../refusals.js'

const MAX_NAMES = 20

const input = z.object({
  names: z
    .array(z.string())
    .optional()
    .describe('Engrams to read, as name@version; at most 20. Absent: a manifest of what there is.'),
  model_id: z
    .string()
    .optional()
    .describe('Model that will read them; some engrams are for a class of models only.'),
  intent_bucket: z.string().optional().describe('Only engrams for this kind of work.'),
  tenant_id: z
    .string()
    .default('local')
    .describe('Label of the manifest; the engrams are those of your own tenant.'),
})

const manifestEntry = z.strictObject({
  name: z.string(),
  version: z.string(),
  intent_bucket: z.string(),
  prompt_hash: z.string(),
  applicable_why_hash: z.string().nullable(),
  generated_class: z.string().nullable(),
  source_chunk_hashes: z.array(z.string()),
  source_chunk_set_hash: z.string().nullable(),
  inherited_reason: z.string().nullable(),
  policy_hash: z.string().nullable(),
})

const output = z.object({
  schema: z.enum(['crux.mcp.engram_manifest.v1', 'crux.mcp.engrams.resolve.v1']),
  capability_class: z.enum(['fast', 'capable', 'frontier']),
  engram_manifest: z
    .strictObject({
      schema: z.literal('crux.local.engram_manifest.v1'),
      tenant_id: z.string(),
      capability_class: z.string(),
      manifest_hash: z.string(),
      engrams: z.array(manifestEntry),
    })
    .optional(),
  engrams: z
    .array(
      z.strictObject({
        name: z.string(),
        version: z.string(),
        intent_bucket: z.string(),
        content: z.string(),
        prompt_hash: z.string(),
        applicable_why: z.string().nullable(),
      }),
    )
    .optional(),
  engram_set_hash: z
    .strictObject({
      schema: z.literal('crux.local.engram_set_hash.v1'),
      hash: z.string(),
      count: z.int(),
    })
    .optional(),
  manifest_hash: z.string().optional(),
})

/** Instructions for kinds of work. */
export const engramResolve = defineTool({
  name: 'engram_resolve',
  plane: 'substrate',
  effect: 'read',
  description:
    'Get short instructions for a kind of work, such as investigating, counting over memory or changing what others call. Without names it lists what there is; then ask for the ones that fit by name@version.',
  outputDoc:
    'Text and structuredContent: without names {schema: crux.mcp.engram_manifest.v1, capability_class, engram_manifest}; with names {schema: crux.mcp.engrams.resolve.v1, capability_class, engrams [{name, version, intent_bucket, content, prompt_hash, applicable_why}], engram_set_hash, manifest_hash}.',
  input,
  output,
  before: ({ features }) => {
    if (features.engrams) return undefined
    throw capabilityDenied(
      'engram MCP surface disabled (set CORECRUXD_FEATURE_ENGRAM_MCP=1 to enable; it is off by default)',
    )
  },
  run: async (args, { substrate }: Pick<Services, 'substrate'>, { caller }) => {
    const { names, model_id, intent_bucket, tenant_id } = args
    if (names !== undefined && names.length > MAX_NAMES) {
      throw invalidArguments('names must contain at most 20 name@version entries')
    }
    const query = {
      tenantLabel: tenant_id,
      ...(model_id === undefined ? {} : { modelId: model_id }),
      ...(intent_bucket === undefined ? {} : { intentBucket: intent_bucket }),
    }
    const found =
      names === undefined || names.length === 0
        ? await substrate.engrams.manifest(caller, query).then((manifest) => ({
            schema: 'crux.mcp.engram_manifest.v1' as const,
            capability_class: manifest.capability_class,
            engram_manifest: manifest,
          }))
        : {
            schema: 'crux.mcp.engrams.resolve.v1' as const,
            ...(await substrate.engrams.resolve(caller, names, query)),
          }
    return answer(JSON.stringify(found, null, 2), { structured: found })
  },
})
