import { z } from 'zod'
import { JsonText } from '../../result/json-text.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { invalidArguments } from '../parse-arguments.js'
import {
  artefactGate,
  artefactSchema,
  artefactsOffShape,
  shownArtefact,
  unusedBudget,
} from './artefact-shapes.js'

const input = z.object({
  artefact_id: z.string().describe('Id from artefact_put or artefact_list.'),
  token_budget: unusedBudget,
})

/** Read bytes back. */
export const artefactGet = defineTool({
  name: 'artefact_get',
  plane: 'artefacts',
  effect: 'read',
  description:
    'Read back the bytes of an artefact that you put and that has not expired. The answer is as long as the artefact: size_bytes in artefact_list tells before.',
  outputDoc:
    'Text: artefact <id> (<n> bytes, mime=<type>); structuredContent {artefact_id, mime_type, tool_origin, size_bytes, created_at, expires_at, content_base64}.',
  input,
  boundedBy: null,
  output: artefactSchema.extend({ content_base64: z.string() }).partial().extend(artefactsOffShape),
  before: (call) => artefactGate('artefact_get', call),
  run: async ({ artefact_id }, { substrate }: Pick<Services, 'substrate'>, { caller }) => {
    const found = await substrate.artefacts.get(caller, artefact_id)
    if (found === undefined) throw invalidArguments('artefact not found or expired')
    const { artefact, content } = found
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.length)
    return answer(
      `artefact ${artefact_id} (${artefact.size_bytes} bytes, mime=${artefact.mime_type})`,
      {
        structured: {
          ...shownArtefact(artefact),
          // Base64 needs no escaping, and escaping mebibytes takes long.
          content_base64: new JsonText(`"${bytes.toString('base64')}"`),
        },
      },
    )
  },
})
