import { PROTOCOL_VERSION, SERVER_NAME } from './codes.js'

/** Who serves: the answer to a plain GET, and part of the handshake. */
export function discovery(version: string): {
  readonly protocolVersion: string
  readonly serverInfo: { readonly name: string; readonly version: string }
} {
  return { protocolVersion: PROTOCOL_VERSION, serverInfo: { name: SERVER_NAME, version } }
}

/** Result of `initialize`: only the `tools` capability, and a first orientation for agents. */
export function handshake(version: string): Record<string, unknown> {
  const { protocolVersion, serverInfo } = discovery(version)
  return {
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo,
    _welcome: {
      hint: 'This server keeps memory for you: facts, documents and session state. Look up what is known before you ask the user, and store what is worth keeping.',
      quickstart: [
        'get_bootstrap("patterns"): how memory is used well here',
        'sync_status(): whether this memory is shared with other machines',
        'update_status(): whether a newer version is available',
        'store_fact(entity, key, value): keep something; storing the same entity and key again makes a new version',
        'query_facts(query): recall facts; give a token_budget to bound the answer',
      ],
      docs: 'https://github.com/CueCrux/Crux/blob/main/docs/agent-guide.md',
    },
  }
}
