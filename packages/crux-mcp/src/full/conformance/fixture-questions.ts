import {
  acceptedContent,
  type CallToolResult,
  type ElicitInputParams,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server'
import { isObject } from 'crux-types'
import { hasForms } from '../client-capabilities.js'
import type { FullCall } from '../full-request.js'
import type { OfferedTool } from '../offering.js'
import { said, tool } from './fixture-tools.js'

const NAME = textSchema('name')

/** Tools that ask their client something, as the conformance suite calls them. */
export function fixtureQuestions(): readonly OfferedTool[] {
  return [
    tool(
      'test_sampling',
      ({ prompt }, call) => {
        const { inputResponses } = call.context.mcpReq
        const given = inputResponse(inputResponses, 'sample')
        if (given.kind === 'missing') return ask({ sample: sample(String(prompt), 100) })
        return said(`LLM response: ${JSON.stringify(inputResponses?.sample)}`)
      },
      {
        type: 'object',
        properties: { prompt: { type: 'string', description: 'What is asked of the model.' } },
        required: ['prompt'],
      },
    ),
    tool(
      'test_elicitation',
      ({ message }, call) =>
        answerOrAsk(call, String(message), {
          type: 'object',
          properties: {
            username: { type: 'string', description: "User's response" },
            email: { type: 'string', description: "User's email address" },
          },
          required: ['username', 'email'],
        }),
      {
        type: 'object',
        properties: { message: { type: 'string', description: 'What the user is shown.' } },
        required: ['message'],
      },
    ),
    tool('test_elicitation_sep1034_defaults', (_args, call) =>
      answerOrAsk(call, 'Please review these defaults', {
        type: 'object',
        properties: {
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        },
      }),
    ),
    tool('test_elicitation_sep1330_enums', (_args, call) =>
      answerOrAsk(call, 'Please choose', ENUMS),
    ),
    tool('test_streaming_elicitation', (_args, call) => answerOrAsk(call, 'Your name?', NAME)),
    tool('test_missing_capability', (_args, call) =>
      call.context.mcpReq.inputResponses === undefined
        ? ask({ sample: sample('Say hello', 20) })
        : said('answered'),
    ),
    tool('test_input_required_result_elicitation', (_args, call) => {
      const content = acceptedContent(call.context.mcpReq.inputResponses, 'user_name')
      return typeof content?.name === 'string'
        ? said(`Hello, ${content.name}!`)
        : ask({ user_name: form('What is your name?', NAME) })
    }),
    tool('test_input_required_result_sampling', (_args, call) =>
      given(call, 'capital_question')
        ? said(JSON.stringify(call.context.mcpReq.inputResponses?.capital_question))
        : ask({ capital_question: sample('What is the capital of France?', 100) }),
    ),
    tool('test_input_required_result_list_roots', (_args, call) =>
      given(call, 'client_roots')
        ? said(JSON.stringify(call.context.mcpReq.inputResponses?.client_roots))
        : ask({ client_roots: inputRequired.listRoots() }),
    ),
    tool('test_input_required_result_request_state', confirmed('state-ok')),
    tool('test_input_required_result_tampered_state', confirmed('untouched')),
    tool('test_input_required_result_multiple_inputs', async (_args, call) => {
      const keys = ['user_name', 'greeting', 'client_roots']
      if (stateOf(call) !== undefined && keys.every((key) => given(call, key))) {
        return said('all three arrived')
      }
      return ask(
        {
          user_name: form('What is your name?', NAME),
          greeting: sample('Generate a greeting', 50),
          client_roots: inputRequired.listRoots(),
        },
        await call.seal({ round: 1 }),
      )
    }),
    tool('test_input_required_result_multi_round', async (_args, call) => {
      const round = stateOf(call)?.round
      if (round === 2 && given(call, 'step2')) return said('both steps are done')
      if (round === 1 && given(call, 'step1')) {
        const step2 = form('Step 2: What is your favorite color?', textSchema('color'))
        return ask({ step2 }, await call.seal({ round: 2 }))
      }
      return ask({ step1: form('Step 1: What is your name?', NAME) }, await call.seal({ round: 1 }))
    }),
    tool('test_input_required_result_capabilities', (_args, call) => {
      const requests: InputRequests = {
        ...(hasForms(call.capabilities) ? { user_name: form('What is your name?', NAME) } : {}),
        ...(call.capabilities.sampling === undefined ? {} : { greeting: sample('Greet', 50) }),
        ...(call.capabilities.roots === undefined
          ? {}
          : { client_roots: inputRequired.listRoots() }),
      }
      const keys = Object.keys(requests)
      return keys.length === 0 || keys.every((key) => given(call, key))
        ? said(`the client can be asked for ${keys.length} things`)
        : ask(requests)
    }),
  ]
}

/** A form that a user is shown. */
export function form(
  message: string,
  requestedSchema: ElicitInputParams['requestedSchema'],
): InputRequests[string] {
  return inputRequired.elicit({ message, requestedSchema })
}

/** An object with one text that must be given. */
export function textSchema(name: string): ElicitInputParams['requestedSchema'] {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] }
}

const ENUMS: ElicitInputParams['requestedSchema'] = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: {
      type: 'string',
      oneOf: [
        { const: 'value1', title: 'First Option' },
        { const: 'value2', title: 'Second Option' },
        { const: 'value3', title: 'Third Option' },
      ],
    },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: {
      type: 'array',
      items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    },
    titledMulti: {
      type: 'array',
      items: {
        anyOf: [
          { const: 'value1', title: 'First Choice' },
          { const: 'value2', title: 'Second Choice' },
          { const: 'value3', title: 'Third Choice' },
        ],
      },
    },
  },
}

function answerOrAsk(
  call: FullCall,
  message: string,
  requestedSchema: ElicitInputParams['requestedSchema'],
): CallToolResult | InputRequiredResult {
  const response = inputResponse(call.context.mcpReq.inputResponses, 'form')
  if (response.kind !== 'elicit') return ask({ form: form(message, requestedSchema) })
  const content = JSON.stringify('content' in response ? response.content : undefined)
  return said(`User response: action=${response.action}, content=${content}`)
}

function confirmed(text: string) {
  return async (_args: unknown, call: FullCall) => {
    if (stateOf(call)?.asked === true && given(call, 'confirm')) return said(text)
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
    return ask(
      { confirm: form('Please confirm', schema as ElicitInputParams['requestedSchema']) },
      await call.seal({ asked: true }),
    )
  }
}

function sample(text: string, maxTokens: number): InputRequests[string] {
  return inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text } }],
    maxTokens,
  })
}

function ask(inputRequests: InputRequests, requestState?: string): InputRequiredResult {
  return inputRequired({
    inputRequests,
    ...(requestState === undefined ? {} : { requestState }),
  })
}

function given(call: FullCall, key: string): boolean {
  return inputResponse(call.context.mcpReq.inputResponses, key).kind !== 'missing'
}

function stateOf(call: FullCall): Readonly<Record<string, unknown>> | undefined {
  const state = call.context.mcpReq.requestState<unknown>()
  return isObject(state) ? state : undefined
}
