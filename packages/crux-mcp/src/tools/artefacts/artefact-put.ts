import { z } from 'zod'
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
import { decodeBase64 } from './decode-base64.js'

const input = z.object({
  content_bytes_base64: z.string().describe('The bytes in standard base64, with padding.'),
  mime_type: z.string().describe('Type of the bytes, such as image/png.'),
  tool_origin: z.string().optional().describe('Name of what produced them.'),
  ttl_seconds: count()
    .optional()
    .describe(
      'Seconds until they are removed: 604800 (7 days) when absent, at most 7776000 (90 days); 0 keeps them.',
    ),
  token_budget: unusedBudget,
})

/** Keep bytes for a while. */
export const artefactPut = defineTool({
  name: 'artefact_put',
  plane: 'artefacts',
  effect: 'write',
  description:
    'Keep a file, an image or a long result outside of the conversation, and get a short id to read it back with artefact_get. Nobody else can read it. The same bytes always have the same id and keep the record of whoever put them first.',
  outputDoc:
    'Text: stored artefact <id> (<n> bytes); structuredContent {artefact_id, mime_type, tool_origin, size_bytes, created_at, expires_at}.',
  input,
  boundedBy: null,
  output: artefactSchema.partial().extend(artefactsOffShape),
  before: (call) => artefactGate('artefact_put', call),
  journalFailure: 'artefact journal append failed',
  run: async (args, { substrate }: Pick<Services, 'substrate'>, { caller }) => {
    const artefact = await substrate.artefacts.put(caller, {
      mimeType: args.mime_type,
      content: await decodeBase64(args.content_bytes_base64),
      ...(args.tool_origin === undefined ? {} : { toolOrigin: args.tool_origin }),
      ...(args.ttl_seconds === undefined ? {} : { ttlSeconds: args.ttl_seconds }),
    })
    return answer(`stored artefact ${artefact.artefact_id} (${artefact.size_bytes} bytes)`, {
      structured: shownArtefact(artefact),
    })
  },
})
