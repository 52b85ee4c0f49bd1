import type { ServerCapabilities } from '@modelcontextprotocol/server'
import { PROTOCOL_VERSION } from '../protocol/codes.js'
import { handshake } from '../protocol/handshake.js'
import { NEGOTIATED_VERSIONS } from './era.js'

/**
 * Everything that is served here; revisions without a part of it have no method that asks for it.
 *
 * @param hasChangingPrompts - Only fixtures of tests change their list of prompts.
 */
export function serverCapabilities(hasChangingPrompts: boolean): ServerCapabilities {
  return {
    tools: { listChanged: true },
    resources: { subscribe: true },
    prompts: hasChangingPrompts ? { listChanged: true } : {},
    completions: {},
    logging: {},
  }
}

/** What an agent should know before its first call. */
export const INSTRUCTIONS =
  'Memory that outlives your session: facts, documents and session state. Recall before you ask the user (query_facts, query), store what is worth keeping (store_fact), and read crux://bootstrap resources or call get_bootstrap to learn how it is used well.'

/**
 * Result of `initialize`: the revision that the client asks for where it is spoken, else the newest
 * that can be agreed on; asking for an unknown one is no error. Whoever asks for the default
 * profile's revision, or for none, gets that profile's handshake.
 */
export function negotiate(
  requested: unknown,
  version: string,
  capabilities: ServerCapabilities,
): Record<string, unknown> {
  const plain = handshake(version)
  if (requested === PROTOCOL_VERSION || typeof requested !== 'string') return plain
  return {
    ...plain,
    protocolVersion: NEGOTIATED_VERSIONS.includes(requested) ? requested : NEGOTIATED_VERSIONS[0],
    capabilities,
    instructions: INSTRUCTIONS,
  }
}
