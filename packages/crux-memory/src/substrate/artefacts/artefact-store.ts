import type { Caller } from 'crux-types'

/** What is known about an artefact besides its bytes; times are RFC 3339 in UTC. */
export interface Artefact {
  /** `art_` and the hex BLAKE3-256 of the bytes. */
  readonly artefact_id: string
  /** Name of the agent that put it. */
  readonly owner_passport: string
  readonly mime_type: string
  /** Name of what produced it; null when none was given. */
  readonly tool_origin: string | null
  readonly size_bytes: number
  readonly created_at: string
  /** Null when it never expires. */
  readonly expires_at: string | null
}

export interface PutArtefactInput {
  readonly mimeType: string
  /** At least one byte; not changed by the caller afterwards. */
  readonly content: Uint8Array
  readonly toolOrigin?: string
  /** Seconds; 0 never expires; default 7 days, at most 90. */
  readonly ttlSeconds?: number
}

/**
 * Bytes that an agent keeps for a while, addressed by what they are. Each belongs to the agent that
 * put it first, within its home tenant.
 *
 * @throws {CruxError} see `SubstrateErrorCode`, and the journal's codes.
 */
export interface ArtefactStore {
  /** Durable when it resolves. Bytes that are there already keep their record, whoever owns it. */
  put(caller: Caller, input: PutArtefactInput): Promise<Artefact>
  /**
   * Undefined when it is absent or expired. `content` is not to be changed.
   *
   * @throws {CruxError} `ARTEFACT_FOREIGN` when another agent owns it.
   */
  get(
    caller: Caller,
    artefactId: string,
  ): Promise<{ readonly artefact: Artefact; readonly content: Uint8Array } | undefined>
  /**
   * The caller's own, unexpired, newest first, without reserved types.
   *
   * @param options.topK - Most artefacts that are looked at; default 20.
   * @param options.scope - Keeps of those the ones whose type holds it or whose origin is it.
   */
  list(caller: Caller, options?: { topK?: number; scope?: string }): Promise<readonly Artefact[]>
  /**
   * Remove what has expired; bytes of removed artefacts leave the disk once they outweigh the rest.
   *
   * @returns How many were removed.
   */
  reap(): Promise<number>
  /**
   * Artefacts of any owner, expired ones included.
   *
   * @param isWanted - Looked at once for each artefact that is kept.
   * @returns Ids of the wanted ones.
   */
  find(
    tenant: string,
    isWanted: (artefact: Artefact, content: Uint8Array) => boolean,
  ): Promise<readonly string[]>
  /**
   * Remove artefacts of any owner, their bytes and those of all removed before from the disk, with all that
   * recovery set aside of the journal.
   *
   * @param isWanted - Looked at once for each artefact that is kept, expired ones included.
   * @returns Ids of what was removed.
   */
  erase(
    tenant: string,
    isWanted: (artefact: Artefact, content: Uint8Array) => boolean,
  ): Promise<readonly string[]>
  /** Numbers for status and metrics. */
  stats(): { readonly artefacts: number; readonly bytes: number }
  close(): Promise<void>
}
