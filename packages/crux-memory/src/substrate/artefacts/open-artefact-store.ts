import type { Journal, Position, StorageErrorCode } from 'crux-storage'
import {
  assertTenant,
  assertText,
  type Caller,
  type Clock,
  CruxError,
  createPauser,
  hasCode,
  requireWriter,
  toStoredTime,
} from 'crux-types'
import type { Blake3 } from '../blake3.js'
import type { SubstrateErrorCode } from '../errors.js'
import { StreamFollower } from '../stream-follower.js'
import { ARTEFACT_STREAM, artefactKey, encodeDelete, encodePut } from './artefact-line.js'
import { ArtefactProjection, type KeptArtefact } from './artefact-projection.js'
import type { Artefact, ArtefactStore, PutArtefactInput } from './artefact-store.js'

/** Lifetime of an artefact when its owner names none, in seconds. */
export const DEFAULT_ARTEFACT_TTL_SECONDS = 604_800
/** Longest lifetime of an artefact that expires, in seconds. */
export const MAX_ARTEFACT_TTL_SECONDS = 7_776_000
/** Most bytes of one artefact unless the operator says otherwise. */
export const DEFAULT_MAX_ARTEFACT_BYTES = 8 * 1024 * 1024
/** Most bytes of all artefacts of one owner. */
export const MAX_OWNER_BYTES = 256 * 1024 * 1024

export interface ArtefactStoreOptions {
  readonly journal: Journal
  readonly clock: Clock
  readonly hashes: Blake3
  /** Most bytes of one artefact; 8 MiB unless given. */
  readonly maxArtefactBytes?: number
  /** Most bytes of all artefacts of one owner; 256 MiB unless given. */
  readonly maxOwnerBytes?: number
  /** Bytes of removed artefacts that the journal may hold before it is rewritten; 64 MiB unless given. */
  readonly spareBytes?: number
  /** Whether an artefact is forgotten: then nobody gets it. */
  readonly isForgotten?: (tenant: string, artefactId: string) => boolean
  /** Told of journal lines that were skipped; without stored text. */
  readonly onWarning?: (message: string) => void
}

const RESERVED_TYPES = ['__agent::', '__ops::', '__bootstrap__::']
const DEFAULT_LIST = 20
const DEFAULT_SPARE_BYTES = 64 * 1024 * 1024
const MAX_LABEL_BYTES = 1024
const HASH_PIECE_BYTES = 1024 * 1024
/** Removals that are in flight at once. */
const REMOVE_WIDTH = 256

/**
 * Artefacts over the journal stream `artefacts`, held in memory.
 *
 * There is no snapshot: it would hold the same bytes once more. Instead the journal is rewritten
 * without removed artefacts when they outweigh the others.
 *
 * @throws {CruxError} the journal's codes.
 */
export async function openArtefactStore(options: ArtefactStoreOptions): Promise<ArtefactStore> {
  const { journal, clock, hashes, onWarning = () => {} } = options
  const maxBytes = options.maxArtefactBytes ?? DEFAULT_MAX_ARTEFACT_BYTES
  const maxOwnerBytes = options.maxOwnerBytes ?? MAX_OWNER_BYTES
  const spareBytes = options.spareBytes ?? DEFAULT_SPARE_BYTES
  const projection = new ArtefactProjection(onWarning)
  const follower = new StreamFollower(journal, ARTEFACT_STREAM)
  await follower.start((record, _keyed, at) => projection.apply(record, at))
  /** Bytes of puts that are on their way, by owner. */
  const onTheWay = new Map<string, number>()
  let isClosed = false

  const requireOpen = (): void => {
    if (!isClosed) return
    throw new CruxError<SubstrateErrorCode>('SUBSTRATE_CLOSED', 'the store of artefacts is closed')
  }
  const { isForgotten = () => false } = options
  const isLive = (kept: KeptArtefact): boolean =>
    clock.now() < kept.expiresAt && !isForgotten(kept.tenant, kept.artefact.artefact_id)
  const isExpired = (kept: KeptArtefact): boolean => clock.now() >= kept.expiresAt
  const findLive = (tenant: string, id: string): KeptArtefact | undefined => {
    const kept = projection.find(tenant, id)
    return kept !== undefined && isLive(kept) ? kept : undefined
  }

  const room = (tenant: string, owner: string): number => {
    let used = onTheWay.get(`${tenant}/${owner}`) ?? 0
    for (const kept of projection.ofTenant(tenant)) {
      if (kept.artefact.owner_passport === owner && isLive(kept)) used += kept.content.length
    }
    return maxOwnerBytes - used
  }

  const append = async (tenant: string, fresh: Artefact, content: Uint8Array) => {
    const { artefact_id: id } = fresh
    const key = artefactKey(tenant, id)
    const bytes = encodePut(tenant, fresh, content)
    // A copy: what is kept must not change with the buffer of its giver.
    projection.expect(bytes, { op: 'put', tenant, artefact: fresh, content: content.slice() })
    let last: Position | 'none' = projection.find(tenant, id)?.at ?? 'none'
    for (;;) {
      const there = findLive(tenant, id)
      if (there !== undefined) return there.artefact
      try {
        await journal.append([{ key, bytes }], [{ key, last }])
        return fresh
      } catch (error) {
        if (!hasCode<StorageErrorCode>(error, 'JOURNAL_CONFLICT')) throw error
        // Somebody put the same bytes or removed them; a rewritten journal has forgotten the key.
        last = typeof error.data.last === 'number' ? error.data.last : 'none'
        if (last !== 'none') await follower.reached(last)
      }
    }
  }

  const remove = async (kept: readonly KeptArtefact[]): Promise<string[]> => {
    const removed: string[] = []
    for (let i = 0; i < kept.length; i += REMOVE_WIDTH) {
      const batch = kept.slice(i, i + REMOVE_WIDTH).map(async ({ tenant, artefact, at }) => {
        const key = artefactKey(tenant, artefact.artefact_id)
        const bytes = encodeDelete(tenant, artefact.artefact_id, toStoredTime(clock.now()))
        try {
          // Bytes that were put again in the meantime have a newer position, and stay.
          await journal.append([{ key, bytes }], [{ key, last: at }])
          removed.push(artefact.artefact_id)
        } catch (error) {
          if (!hasCode<StorageErrorCode>(error, 'JOURNAL_CONFLICT')) throw error
        }
      })
      await Promise.all(batch)
    }
    return removed
  }

  const select = async (
    tenant: string,
    isWanted: (artefact: Artefact, content: Uint8Array) => boolean,
  ): Promise<KeptArtefact[]> => {
    const pause = createPauser()
    const wanted: KeptArtefact[] = []
    for (const kept of [...projection.ofTenant(tenant)]) {
      if (isWanted(kept.artefact, kept.content)) wanted.push(kept)
      await pause()
    }
    return wanted
  }

  /** Rewrite the journal with the artefacts that are kept and nothing else. */
  const dropSpare = async (): Promise<void> => {
    const until = follower.applied
    const wanted = new Set<Position>()
    for (const { at } of projection.all()) wanted.add(at)
    const { spareBytes: spare } = projection
    await journal.rewrite(ARTEFACT_STREAM, ({ bytes }, at) =>
      wanted.has(at) || at > until ? bytes : undefined,
    )
    projection.spareBytes -= spare
  }

  return {
    async put(caller, input) {
      requireOpen()
      requireWriter(caller)
      const { tenant } = caller
      assertTenant(tenant)
      const owner = requireOwner(caller)
      assertInput(input, maxBytes)
      const { content } = input
      const id = `art_${await hashOf(hashes, content)}`
      const there = findLive(tenant, id)
      if (there !== undefined) return there.artefact
      const account = `${tenant}/${owner}`
      const left = room(tenant, owner)
      if (content.length > left) throw overQuota(owner, maxOwnerBytes - left, maxOwnerBytes)
      onTheWay.set(account, (onTheWay.get(account) ?? 0) + content.length)
      try {
        const now = clock.now()
        const ttl = input.ttlSeconds ?? DEFAULT_ARTEFACT_TTL_SECONDS
        const fresh: Artefact = {
          artefact_id: id,
          owner_passport: owner,
          mime_type: input.mimeType,
          tool_origin: input.toolOrigin ?? null,
          size_bytes: content.length,
          created_at: toStoredTime(now),
          expires_at: ttl === 0 ? null : toStoredTime(now + ttl * 1000),
        }
        return await append(tenant, fresh, content)
      } finally {
        const rest = (onTheWay.get(account) ?? 0) - content.length
        if (rest > 0) onTheWay.set(account, rest)
        else onTheWay.delete(account)
      }
    },

    async get(caller, artefactId) {
      requireOpen()
      const owner = requireOwner(caller)
      const kept = findLive(caller.tenant, artefactId)
      if (kept === undefined) return undefined
      if (kept.artefact.owner_passport !== owner) {
        throw new CruxError<SubstrateErrorCode>(
          'ARTEFACT_FOREIGN',
          'artefact owned by another passport',
          { data: { artefact_id: artefactId, reason: 'cross_passport' } },
        )
      }
      return { artefact: kept.artefact, content: kept.content }
    },

    async list(caller, { topK = DEFAULT_LIST, scope } = {}) {
      requireOpen()
      const owner = requireOwner(caller)
      const own: KeptArtefact[] = []
      for (const kept of projection.ofTenant(caller.tenant)) {
        const { owner_passport, mime_type } = kept.artefact
        if (owner_passport !== owner || !isLive(kept)) continue
        if (!RESERVED_TYPES.some((start) => mime_type.startsWith(start))) own.push(kept)
      }
      own.sort((a, b) => compareNewest(a, b))
      return own
        .slice(0, topK)
        .map(({ artefact }) => artefact)
        .filter(
          ({ mime_type, tool_origin }) =>
            scope === undefined || mime_type.includes(scope) || tool_origin === scope,
        )
    },

    async reap() {
      requireOpen()
      const expired = [...projection.all()].filter(isExpired)
      const removed = await remove(expired)
      if (projection.spareBytes > Math.max(spareBytes, projection.bytes)) await dropSpare()
      return removed.length
    },

    async find(tenant, isWanted) {
      requireOpen()
      return (await select(tenant, isWanted)).map(({ artefact }) => artefact.artefact_id)
    },

    async erase(tenant, isWanted) {
      requireOpen()
      const removed = await remove(await select(tenant, isWanted))
      await dropSpare()
      return removed
    },

    stats: () => ({ artefacts: projection.count, bytes: projection.bytes }),

    async close() {
      isClosed = true
      follower.stop()
    },
  }
}

function requireOwner(caller: Caller): string {
  const owner = caller.agent ?? caller.identity
  if (owner !== null) return owner
  throw new CruxError<SubstrateErrorCode>(
    'ARTEFACT_NEEDS_IDENTITY',
    'artefacts belong to an agent, and this caller has no name; connect with an agent token',
  )
}

function assertInput(input: PutArtefactInput, maxBytes: number): void {
  const { content, ttlSeconds: ttl } = input
  const labels = { mime_type: input.mimeType, tool_origin: input.toolOrigin ?? '' }
  for (const [field, text] of Object.entries(labels)) {
    assertText(text, { field, maxBytes: MAX_LABEL_BYTES, allowControl: false })
  }
  const refuse = (why: string): never => {
    throw new CruxError<SubstrateErrorCode>('ARTEFACT_INVALID', why)
  }
  if (ttl !== undefined && (!Number.isInteger(ttl) || ttl < 0)) {
    refuse(`ttl_seconds=${ttl} is not a whole number of seconds from 0`)
  }
  if (ttl !== undefined && ttl > MAX_ARTEFACT_TTL_SECONDS) {
    refuse(`ttl_seconds=${ttl} exceeds max ${MAX_ARTEFACT_TTL_SECONDS} (90 days)`)
  }
  if (content.length === 0) refuse('an artefact has at least one byte')
  if (content.length <= maxBytes) return
  throw new CruxError<SubstrateErrorCode>(
    'ARTEFACT_TOO_LARGE',
    `the artefact has ${content.length} bytes; at most ${maxBytes} are kept, so split or compress it`,
    { data: { bytes: content.length, maxBytes } },
  )
}

function overQuota(owner: string, bytes: number, maxBytes: number): CruxError<SubstrateErrorCode> {
  return new CruxError(
    'ARTEFACT_QUOTA',
    `the artefacts of '${owner}' have ${bytes} bytes; with this one they would have more than ${maxBytes}, so wait until some expire or store less`,
    { data: { bytes, maxBytes } },
  )
}

async function hashOf(hashes: Blake3, content: Uint8Array): Promise<string> {
  const pause = createPauser()
  const hash = hashes.blake3Stream()
  for (let at = 0; at < content.length; at += HASH_PIECE_BYTES) {
    hash.update(content.subarray(at, at + HASH_PIECE_BYTES))
    await pause()
  }
  return Buffer.from(hash.digest()).toString('hex')
}

function compareNewest(a: KeptArtefact, b: KeptArtefact): number {
  const [left, right] = [a.artefact.created_at, b.artefact.created_at]
  if (left !== right) return left < right ? 1 : -1
  return b.at - a.at
}
