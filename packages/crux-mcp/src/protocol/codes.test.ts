import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as codes from './codes.js'

describe('error codes', () => {
  it('are those of JSON-RPC, and of this surface (MCP-11.5-code-invalid-request)', () => {
    expect(codes).toMatchObject({
      PARSE_ERROR: -32700,
      INVALID_REQUEST: -32600,
      METHOD_NOT_FOUND: -32601,
      INVALID_PARAMS: -32602,
      INTERNAL_ERROR: -32603,
      CAPABILITY_DENIED: -32030,
      UPSTREAM_ERROR: -32000,
    })
  })

  it('leave -32000 to the relay on stdio (MCP-11.5-code-upstream)', () => {
    const root = new URL('..', import.meta.url)
    const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
    )
    const users = sources.filter((name) =>
      /UPSTREAM_ERROR|-32000/.test(readFileSync(new URL(name, root), 'utf8')),
    )
    // The two that publish it, and where it is defined.
    expect(users.sort()).toEqual(['index.ts', 'protocol/codes.ts', 'protocol/index.ts'])
  })
})
