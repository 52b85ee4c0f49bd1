import { type Caller, CruxError, createPauser, passportOf } from 'crux-types'
import type { ObservationInput } from '../observations/observation.js'
import type { ObservationStore } from '../observations/observation-store.js'
import { hexOf } from '../observations/sign-record.js'
import { invocationRecord, type LedgerCall, type LedgerHash } from './invocation-record.js'

/** Program that the daemon reports as. */
const PROVIDER = 'crux-mcp'
/** What waits to be written, at most. */
const MAX_WAITING = 4096
const MAX_WAITING_BYTES = 16 * 1024 * 1024
/** Events written together. */
const MAX_BATCH = 256
/** Passports whose last list is known; one more drops the one that listed first. */
const MAX_LISTS = 10_000
const HASH_DIGITS = 16
/** What an event takes besides its arguments, roughly. */
const EVENT_BYTES = 512

/** A list of tools that a client was given. */
export interface OfferedList {
  readonly tools: readonly string[]
  /** How much of the catalogue it shows. */
  readonly surfaceMode: string
}

/**
 * Why an event is not in the ledger: too many wait, it is larger than an observation may be, the storage
 * refused it, it could not be made, or the ledger was closed.
 */
export type LedgerFailure = 'queue_full' | 'too_large' | 'storage' | 'internal' | 'closed'

/**
 * Observations of the calls that the daemon answers and of the lists that it gives, in the session
 * `ledger::<passport>`. Written behind the answers: nothing waits for it, and nothing fails with it.
 */
export interface ToolLedger {
  /** A call has its outcome. */
  called(caller: Caller, call: LedgerCall): void
  /** A list was given; noted when it differs from the last one of that passport. */
  offered(caller: Caller, list: OfferedList): void
  /** Resolves when all that waits now is written or given up. */
  flush(): Promise<void>
  /** Write what waits and take no more. */
  close(): Promise<void>
}

export interface ToolLedgerOptions {
  /** Asked at each writing: the store may be opened later. */
  readonly observations: () => Pick<ObservationStore, 'recordCalls'>
  readonly hashes: LedgerHash
  /** Keep the arguments of calls as they are; default false. */
  readonly keepsArguments?: boolean
  /** Largest payload of an observation, in bytes; arguments of more than half of it are left out. */
  readonly maxPayloadBytes: number
  readonly onFailure: (reason: LedgerFailure) => void
}

interface Waiting {
  readonly caller: Caller
  readonly bytes: number
  readonly make: () => Promise<ObservationInput> | ObservationInput
}

/** A ledger with nothing in it. At most 4,096 events wait, of at most 16 MiB of arguments. */
export function createToolLedger(options: ToolLedgerOptions): ToolLedger {
  const { observations, hashes, keepsArguments = false, maxPayloadBytes, onFailure } = options
  const lists = new Map<string, string>()
  const waiting: Waiting[] = []
  let waitingBytes = 0
  let writing: Promise<void> | undefined
  let isClosed = false

  const enqueue = (event: Waiting): void => {
    const isFull = waiting.length >= MAX_WAITING || waitingBytes + event.bytes > MAX_WAITING_BYTES
    if (isClosed || isFull) {
      onFailure(isClosed ? 'closed' : 'queue_full')
      return
    }
    waiting.push(event)
    waitingBytes += event.bytes
    writing ??= writeAll()
  }

  const writeAll = async (): Promise<void> => {
    const pause = createPauser()
    // One turn, so that what is told together is written together.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH)
      for (const { bytes } of batch) waitingBytes -= bytes
      // In order for each ledger; those of several passports are written side by side.
      const byLedger = new Map<string, { caller: Caller; inputs: ObservationInput[] }>()
      for (const { caller, make } of batch) {
        const key = JSON.stringify([caller.tenant, passportOf(caller)])
        const ledger = byLedger.get(key) ?? { caller, inputs: [] }
        byLedger.set(key, ledger)
        try {
          ledger.inputs.push(await make())
        } catch {
          onFailure('internal')
        }
        await pause()
      }
      await Promise.all([...byLedger.values()].map(({ caller, inputs }) => write(caller, inputs)))
    }
    writing = undefined
  }

  const write = async (caller: Caller, inputs: readonly ObservationInput[]): Promise<void> => {
    try {
      await observations().recordCalls(caller, inputs)
    } catch (error) {
      const isTooLarge = error instanceof CruxError && error.code === 'OBSERVATION_TOO_LARGE'
      if (!isTooLarge) for (const _ of inputs) onFailure('storage')
      else if (inputs.length === 1) onFailure('too_large')
      // Nothing of the batch was kept: the others are not to be lost for the one.
      else for (const input of inputs) await write(caller, [input])
    }
  }

  return {
    called(caller, call) {
      const about = { passport: passportOf(caller), hashes, keepsArguments, maxPayloadBytes }
      enqueue({
        caller,
        bytes: EVENT_BYTES + call.sizeBytes,
        make: async () => ({
          kind: 'agent.tool_invocation.v1',
          provider: PROVIDER,
          payload: await invocationRecord(call, about),
        }),
      })
    },
    offered(caller, { tools, surfaceMode }) {
      const passport = passportOf(caller)
      const digest = hexOf(hashes.blake3(Buffer.from(tools.join('\n'))))
      const set_hash = `blake3:${digest.slice(0, HASH_DIGITS)}`
      const key = JSON.stringify([caller.tenant, passport])
      if (lists.get(key) === set_hash) return
      const oldest = lists.size < MAX_LISTS ? undefined : lists.keys().next().value
      if (oldest !== undefined) lists.delete(oldest)
      lists.set(key, set_hash)
      const count = tools.length
      const payload = { passport, tools, count, surface_mode: surfaceMode, set_hash }
      const input = { kind: 'agent.tools_offered.v1', provider: PROVIDER, payload }
      enqueue({ caller, bytes: EVENT_BYTES + count * 32, make: () => input })
    },
    async flush() {
      while (writing !== undefined) await writing
    },
    async close() {
      isClosed = true
      while (writing !== undefined) await writing
    },
  }
}
