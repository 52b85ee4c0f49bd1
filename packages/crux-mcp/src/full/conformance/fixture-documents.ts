import { acceptedContent, inputRequired } from '@modelcontextprotocol/server'
import type { OfferedPrompt, ResourceBlob, ResourceSource, ResourceText } from '../offering.js'
import { form, textSchema } from './fixture-questions.js'
import { PNG } from './media.js'

const STATIC_TEXT = 'test://static-text'
const STATIC_BINARY = 'test://static-binary'
const WATCHED = 'test://watched-resource'
const TEMPLATE = 'test://template/{id}/data'
const FROM_TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/

/** Resources with fixed addresses, as the conformance suite reads them. */
export const fixtureResources: ResourceSource = {
  list: async () => [
    listed(STATIC_TEXT, 'text/plain'),
    listed(STATIC_BINARY, 'image/png'),
    listed(WATCHED, 'text/plain'),
  ],
  templates: [
    {
      name: 'test-template',
      uriTemplate: TEMPLATE,
      description: 'Conformance fixture: data of an id.',
      mimeType: 'application/json',
    },
  ],
  read: async (_caller, uri) => readFixture(uri),
  sight: () => '',
  view: async () => ({ read: readFixture }),
  complete: async (_caller, template) => (template === TEMPLATE ? [] : undefined),
}

function readFixture(uri: string): ResourceText | ResourceBlob | undefined {
  if (uri === STATIC_TEXT) {
    const text = 'This is the content of the static text resource.'
    return { uri, mimeType: 'text/plain', text }
  }
  if (uri === WATCHED) return { uri, mimeType: 'text/plain', text: 'Watched resource content.' }
  if (uri === STATIC_BINARY) return { uri, mimeType: 'image/png', blob: PNG }
  const id = FROM_TEMPLATE.exec(uri)?.[1]
  if (id === undefined) return undefined
  const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
  return { uri, mimeType: 'application/json', text }
}

/** Prompts with fixed names and texts, as the conformance suite gets them. */
export const fixturePrompts: readonly OfferedPrompt[] = [
  {
    listed: { name: 'test_simple_prompt', description: 'Conformance fixture: one text.' },
    get: () => ({ messages: [user('This is a simple prompt for testing.')] }),
  },
  {
    listed: {
      name: 'test_prompt_with_arguments',
      description: 'Conformance fixture: a text with two arguments in it.',
      arguments: [
        { name: 'arg1', description: 'First test argument', required: true },
        { name: 'arg2', description: 'Second test argument', required: true },
      ],
    },
    get: ({ arg1, arg2 }) => ({
      messages: [user(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    }),
    complete: async () => ['testing', 'test'],
  },
  {
    listed: {
      name: 'test_prompt_with_embedded_resource',
      description: 'Conformance fixture: a resource and a text.',
      arguments: [{ name: 'resourceUri', description: 'Its address', required: true }],
    },
    get: ({ resourceUri = '' }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: {
              uri: resourceUri,
              mimeType: 'text/plain',
              text: 'Embedded resource content for testing.',
            },
          },
        },
        user('Please process the embedded resource above.'),
      ],
    }),
  },
  {
    listed: { name: 'test_prompt_with_image', description: 'Conformance fixture: an image.' },
    get: () => ({
      messages: [
        { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
        user('Please analyze the image above.'),
      ],
    }),
  },
  {
    listed: {
      name: 'test_input_required_result_prompt',
      description: 'Conformance fixture: asks its user first.',
    },
    get: (_args, { context }) => {
      const content = acceptedContent(context.mcpReq.inputResponses, 'user_context')
      if (typeof content?.context === 'string') {
        return { messages: [user(`In the context of ${content.context}`)] }
      }
      const question = form('What context should the prompt use?', textSchema('context'))
      return inputRequired({ inputRequests: { user_context: question } })
    },
  },
]

function listed(uri: string, mimeType: string) {
  const name = uri.slice('test://'.length)
  return { uri, name, description: `Conformance fixture: ${name}.`, mimeType }
}

function user(text: string) {
  return { role: 'user' as const, content: { type: 'text' as const, text } }
}
