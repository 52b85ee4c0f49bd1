import { expect, it, onTestFinished } from 'vitest'
import { parseAgentTokens } from '../../gates/agent-tokens.js'
import { startTestServer } from '../../testing/test-server.js'

it('get_agent_identity names the agent of the token, or anonymous', async () => {
  const nobody = await startTestServer()
  onTestFinished(() => nobody.close())
  expect((await nobody.call('get_agent_identity')).result).toEqual({
    content: [{ type: 'text', text: 'anonymous' }],
  })

  const token = '1'.repeat(32)
  const some = await startTestServer({ agents: parseAgentTokens(undefined, `änne:${token}`) })
  onTestFinished(() => some.close())
  const { text } = await some.call('get_agent_identity', {}, { Authorization: `Bearer ${token}` })
  expect(text).toBe('änne')
})
