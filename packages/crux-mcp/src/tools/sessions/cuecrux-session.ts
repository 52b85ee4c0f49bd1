import { planToJson } from 'crux-session'
import { isObject, passportOf } from 'crux-types'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count } from '../fields.js'
import { invalidArguments, parseArguments } from '../parse-arguments.js'

const HINTS = z.object({
  prefer_bulk: z.boolean().optional(),
  max_capabilities: count().optional(),
  want_parent_chain: z.boolean().optional(),
  hide_exclusions: z.boolean().optional(),
})
const parseHints = parseArguments(HINTS, [])

const input = z.object({
  intent: z
    .string()
    .optional()
    .describe(
      'What you are here for: audit_review, compliance_export, document_ingest, session_review or knowledge_query. Where the list of tools is shaped it then leads with the ones that help, for an hour. Blank takes an earlier one back; absent leaves it.',
    ),
  hints: z
    .unknown()
    .optional()
    .meta({
      type: 'object',
      properties: {
        prefer_bulk: {
          type: 'boolean',
          description: 'Name the bulk channel where there is one; false: MCP for everything.',
        },
        max_capabilities: {
          type: 'integer',
          minimum: 0,
          description: 'Most capabilities; plans of this machine list all of them anyway.',
        },
        want_parent_chain: {
          type: 'boolean',
          description: 'Ask for the receipts above; plans of this machine have none.',
        },
        hide_exclusions: {
          type: 'boolean',
          description: 'Leave out the list of what was not granted; default false.',
        },
      },
    })
    .describe('What the plan should look like.'),
})

/** Begin a session: declare an intent, get a plan. */
export const cuecruxSession = defineTool({
  name: 'cuecrux_session',
  plane: 'sessions',
  effect: 'write',
  description:
    'Begin here. Declares what you came for and answers with the plan of your session: which capabilities you have, how they go together, where they are reached and until when, sealed by a hash that receipts can refer to. To go on with earlier work, follow it with get_session.',
  outputDoc:
    'Text: the plan as JSON {plan_id, session_id, passport, channels {bulk, mcp}, capability_graph {nodes, edges, excluded, valid_until, ...}, capability_graph_hash, budget, receipt {mode, hash, ...}, minted_at, session_ttl_s, intent_hint, ...}; byte strings are lower-case hex, times milliseconds.',
  input,
  journalFailure: 'cuecrux_session: the session plan could not be sealed',
  run: async (args, services: Pick<Services, 'intents' | 'plans'>, { caller }) => {
    // First, as a declared intent holds whether or not the plan can be made.
    if (args.intent !== undefined) services.intents.set(passportOf(caller), args.intent)
    if (args.hints !== undefined && !isObject(args.hints)) {
      throw invalidArguments('cuecrux_session: hints must be an object')
    }
    const hints = args.hints === undefined ? undefined : parseHints(args.hints)
    return answer(planToJson(await services.plans.mint(caller, { intent: args.intent, hints })))
  },
})
