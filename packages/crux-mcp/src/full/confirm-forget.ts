import {
  acceptedContent,
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server'
import { isObject } from 'crux-types'
import { z } from 'zod'
import { hasForms } from './client-capabilities.js'
import type { FullCall } from './full-request.js'

const FORGET = 'memory_forget'
const QUESTION = 'forget'
const confirmation = z.object({ forget: z.boolean() })
const preview = z.object({
  count: z.number(),
  confirm_required: z.boolean(),
  confirm: z.string(),
})

/** How the question went: arguments to go on with, or what to answer instead. */
export type Confirmation =
  | { readonly args: Readonly<Record<string, unknown>> }
  | { readonly answer: CallToolResult | InputRequiredResult }

/**
 * Ask the user before much is forgotten.
 *
 * A forgetting that needs the `confirm` of a dry run and comes without it is refused in the default
 * profile. Where the client can show a form, its user is asked instead; a yes counts for exactly
 * the facts that there were when the question was put.
 *
 * @param dryRun - Runs `memory_forget_dry_run`.
 */
export async function confirmForget(
  name: string,
  args: Readonly<Record<string, unknown>>,
  call: FullCall,
  dryRun: (args: Readonly<Record<string, unknown>>) => Promise<CallToolResult>,
): Promise<Confirmation> {
  if (name !== FORGET || args.confirm !== undefined || !hasForms(call.capabilities)) return { args }
  const { inputResponses, requestState } = call.context.mcpReq
  const confirm = requestState<unknown>()
  if (isObject(confirm) && typeof confirm.confirm === 'string') {
    const said = acceptedContent(inputResponses, QUESTION, confirmation)
    if (said?.forget === true) return { args: { ...args, confirm: confirm.confirm } }
    const { kind } = inputResponse(inputResponses, QUESTION)
    if (kind !== 'missing') return { answer: declined() }
  }
  const { scope, token_budget: tokenBudget, include_pinned: includePinned } = args
  const { structuredContent } = await dryRun({
    scope,
    ...(tokenBudget === undefined ? {} : { token_budget: tokenBudget }),
    ...(includePinned === undefined ? {} : { include_pinned: includePinned }),
  })
  const seen = preview.safeParse(structuredContent)
  if (!seen.success || !seen.data.confirm_required) return { args }
  return {
    answer: inputRequired({
      inputRequests: {
        [QUESTION]: inputRequired.elicit({
          message: `Forget ${seen.data.count} facts? Within the recovery window an operator can restore them; then they are erased.`,
          requestedSchema: {
            type: 'object',
            properties: {
              forget: { type: 'boolean', title: 'Forget them', default: false },
            },
            required: ['forget'],
          },
        }),
      },
      requestState: await call.seal({ confirm: seen.data.confirm }),
    }),
  }
}

function declined(): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: 'nothing was forgotten: the user did not agree' }],
  }
}
