import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { FullCall } from '../full-request.js'
import type { OfferedTool } from '../offering.js'
import { PNG, WAV } from './media.js'

const STEP_MS = 50
const NO_ARGUMENTS = { type: 'object' as const, properties: {} }

/** What the fixtures may change while the suite watches. */
export interface FixtureChanges {
  tools(): void
  prompts(): void
}

/** Tools with fixed names and answers, as the conformance suite calls them. */
export function fixtureTools(changes: FixtureChanges): readonly OfferedTool[] {
  return [
    fixed('test_simple_text', [
      { type: 'text', text: 'This is a simple text response for testing.' },
    ]),
    fixed('test_image_content', [{ type: 'image', data: PNG, mimeType: 'image/png' }]),
    fixed('test_audio_content', [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }]),
    fixed('test_embedded_resource', [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ]),
    fixed('test_multiple_content_types', [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ]),
    tool('test_error_handling', async () => ({
      isError: true,
      ...said('This tool intentionally returns an error for testing'),
    })),
    tool('test_tool_with_logging', async (_args, call) => {
      for (const text of ['started', 'processing data', 'completed']) {
        await call.log('info', `Tool execution ${text}`)
        await pause()
      }
      return said('logged three times')
    }),
    tool('test_logging_tool', async (_args, call) => {
      await call.log('info', 'Tool execution started')
      return said('logged')
    }),
    tool('test_tool_with_progress', async (_args, { context: { mcpReq } }) => {
      const progressToken = mcpReq._meta?.progressToken
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          })
        }
        await pause()
      }
      return said('progress was reported')
    }),
    tool('test_reconnection', async (_args, { context }) => {
      context.http?.closeSSE?.()
      await pause()
      await pause()
      return said('answered after the client came back')
    }),
    tool('test_trigger_tool_change', async () => {
      changes.tools()
      return said('the list of tools changed')
    }),
    tool('test_trigger_prompt_change', async () => {
      changes.prompts()
      return said('the list of prompts changed')
    }),
    {
      listed: {
        name: 'test_header_argument',
        description: 'Conformance fixture: takes an argument that stands in a header too.',
        inputSchema: {
          type: 'object',
          properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
          required: ['region'],
        },
      },
      call: ({ region }) => {
        if (typeof region === 'string') return said(`region ${region}`)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'region: expected string')
      },
    },
    {
      listed: {
        name: 'json_schema_2020_12_tool',
        description: 'Conformance fixture: has a schema with keywords that few clients know.',
        inputSchema: RICH_SCHEMA,
      },
      call: () => said('called'),
    },
  ]
}

const RICH_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, in an object that nobody awaits
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

/** A fixture without arguments. */
export function tool(
  name: string,
  call: (
    args: Readonly<Record<string, unknown>>,
    call: FullCall,
  ) => ReturnType<OfferedTool['call']>,
  inputSchema: OfferedTool['listed']['inputSchema'] = NO_ARGUMENTS,
): OfferedTool {
  return { listed: { name, description: `Conformance fixture: ${name}.`, inputSchema }, call }
}

/** An answer of one text. */
export function said(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] }
}

function fixed(name: string, content: CallToolResult['content']): OfferedTool {
  return tool(name, () => ({ content }))
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, STEP_MS)
  })
}
