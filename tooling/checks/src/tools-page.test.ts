import { describe, expect, it } from 'vitest'
import { toolsPage } from './tools-page.js'

describe('toolsPage', () => {
  it('gives each tool a section with its arguments, by plane', () => {
    const page = toolsPage([
      {
        name: 'look_up',
        plane: 'reading',
        effect: 'read',
        description: 'Look something up.',
        outputDoc: 'Text.',
        inputSchema: {
          properties: {
            word: { type: 'string', description: 'A word | two.' },
            limit: { type: 'integer', default: 10, description: 'Most hits.' },
            kind: { enum: ['a', 'b'], description: 'Which.' },
            ids: { type: 'array', items: { type: 'string' }, description: 'Addresses.' },
            state: { description: 'Anything.' },
          },
          required: ['word'],
        },
      },
      {
        name: 'forget',
        plane: 'writing',
        effect: 'write',
        description: 'Forget all.',
        outputDoc: 'Nothing.',
        inputSchema: { properties: {}, required: [] },
      },
    ])
    for (const line of [
      'The daemon lists 2 tools over MCP. Arguments marked with * are required.',
      '- reading: [`look_up`](#look_up)',
      '### look_up',
      '| `word` * | string |  | A word \\| two. |',
      '| `limit` | integer | `10` | Most hits. |',
      '| `kind` | a, b |  | Which. |',
      '| `ids` | list of string |  | Addresses. |',
      '| `state` | any |  | Anything. |',
      'Reads only. Answer: Text.',
      'Takes no arguments.',
      'Writes. Answer: Nothing.',
    ]) {
      expect(page.split('\n')).toContain(line)
    }
  })
})
