import { z } from 'zod'
import {
  adoptNames,
  applyChange,
  type Change,
  differences,
  isLive,
  type LaneState,
  type SeenKey,
} from './facts-model.js'
import { type HttpCaller, UnexpectedStatus } from './http.js'
import { type McpCaller, RpcError } from './mcp.js'
import type { Random } from './random.js'

const KEYS = ['k0', 'k1', 'k2'] as const
// A key with more versions than this is left alone, so that each comparison stays short.
const MAX_VERSIONS = 60

const storedSchema = z.looseObject({ fact_id: z.string() })
const editedSchema = z.looseObject({ new_fact: z.looseObject({ id: z.string() }) })
const drySchema = z.looseObject({ confirm: z.string() })
const forgottenSchema = z.looseObject({ forget_receipt_id: z.string() })
const historySchema = z.looseObject({
  versions: z.array(
    z.looseObject({ id: z.string(), value: z.string(), version: z.int(), deleted: z.boolean() }),
  ),
})
const factsSchema = z.looseObject({
  facts: z.array(z.looseObject({ entity: z.string(), value: z.string() })),
})
const forgetsSchema = z.looseObject({
  forgets: z.array(
    z.looseObject({
      receipt_id: z.string(),
      status: z.string(),
      scope: z.string(),
    }),
  ),
})

/** The two ways to speak to a daemon. */
export interface Surfaces {
  readonly mcp: McpCaller
  readonly http: HttpCaller
}

/**
 * One writer of facts that nobody else touches, and what it was promised. It waits for each answer,
 * so that at most its last change is unknown when the daemon dies.
 */
export class FactsLane {
  readonly acknowledged = { store: 0, edit: 0, delete: 0, forget: 0, restore: 0 }
  #state: LaneState = new Map<string, never>()
  /** The change that was sent and is not answered. */
  #pending: Change | undefined
  /** Receipts of forgettings that can be undone. */
  #receipts: string[] = []
  #serial = 0
  #isDying = false

  /** @param prefix - Start of the lane's entities; no lane's is the start of another's. */
  constructor(
    private readonly prefix: string,
    private readonly random: Random,
  ) {}

  /** From now on failed connections are expected. */
  killing(): void {
    this.#isDying = true
  }

  /** Change facts until the daemon is gone. @returns Failures that no kill explains. */
  async write(surfaces: Surfaces): Promise<string[]> {
    this.#isDying = false
    try {
      for (;;) await this.#step(surfaces)
    } catch (error) {
      // An answer is an answer at any time; only a connection may break.
      const isAnswer = error instanceof RpcError || error instanceof UnexpectedStatus
      return this.#isDying && !isAnswer ? [] : [`${this.prefix}: ${String(error)}`]
    }
  }

  /** Compare the daemon with what was promised, then take that as settled. */
  async verify({ mcp, http }: Surfaces): Promise<readonly string[]> {
    const seen = new Map<string, SeenKey>()
    for (const key of KEYS) seen.set(key, await this.#look({ mcp, http }, key))
    const listed = forgetsSchema.parse(await json(http, 'GET', '/v1/memory/forgets'))
    const own = listed.forgets.filter(({ scope }) => scope.includes(this.prefix))
    const open = own.filter(({ status }) => status === 'forgotten').map((one) => one.receipt_id)

    const pending = this.#pending
    const before = differences(this.#state, seen)
    let receipts = this.#receipts
    let faults = before
    if (pending !== undefined) {
      const after = applyChange(this.#state, pending)
      if (before.length > 0 && differences(after, seen).length === 0) {
        const known = new Set(this.#receipts)
        const unknown = open.find((id) => !known.has(id))
        this.#state = adoptNames(after, seen, unknown)
        if (pending.op === 'forget' && unknown !== undefined) receipts = [...receipts, unknown]
        faults = []
      } else if (before.length > 0) {
        const title = `nor is it the outcome of ${JSON.stringify(pending)}:`
        faults = [...before, title, ...differences(after, seen)]
      }
      // A receipt of nothing, or undone without a visible change: the list alone tells.
      if (pending.op === 'restore')
        receipts = receipts.filter((id) => open.includes(id) || id !== pending.receipt)
      this.#pending = undefined
    }
    this.#receipts = receipts
    const lost = receipts
      .filter((id) => !open.includes(id))
      .map((id) => `receipt ${id} is not open`)
    const odd = open.filter((id) => !receipts.includes(id)).map((id) => `receipt ${id} is open`)
    return [...faults, ...lost, ...odd].map((fault) => `${this.prefix} ${fault}`)
  }

  async #look({ mcp, http }: Surfaces, key: string): Promise<SeenKey> {
    const entity = this.prefix + key
    const { structuredContent } = await mcp.call('memory_history', { entity, key: 'value' })
    const { versions } = historySchema.parse(structuredContent)
    const path = `/v1/facts?entity=${encodeURIComponent(entity)}&top_k=100`
    const { facts } = factsSchema.parse(await json(http, 'GET', path))
    return {
      versions: versions.map(({ id, value, version, deleted }) => ({
        id,
        value,
        version,
        deleted,
      })),
      current: facts.map(({ value }) => value),
    }
  }

  async #step(surfaces: Surfaces): Promise<void> {
    const key = this.random.pick(KEYS)
    const versions = this.#state.get(key) ?? []
    const live = versions.filter(isLive)
    const newest = versions.at(-1)
    const die = this.random.integer(1, 20)
    if (die <= 2 && live.length > 0) return this.#forget(surfaces, key)
    // Of two forgettings of one key the later one is undone first.
    const receipt = versions.findLast((one) => one.receipt !== undefined)?.receipt
    if (die <= 4 && receipt !== undefined) return this.#restore(surfaces, receipt)
    if (die <= 8) {
      const target = live[this.random.integer(0, live.length - 1)]
      if (target?.id !== undefined) return this.#delete(surfaces, target.id)
    }
    const isFull = versions.length >= MAX_VERSIONS
    if (isFull) return void (await this.#look(surfaces, key))
    if (die <= 12 && newest?.id !== undefined && isLive(newest)) {
      return this.#edit(surfaces, key, newest.id)
    }
    return this.#store(surfaces, key)
  }

  async #store({ mcp, http }: Surfaces, key: string): Promise<void> {
    const fact = { entity: this.prefix + key, key: 'value', value: this.#nextValue() }
    const change = { op: 'store', key, value: fact.value } as const
    this.#pending = change
    const stored =
      this.random.integer(0, 1) === 0
        ? await http.putFact(fact)
        : storedSchema.parse((await mcp.call('store_fact', fact)).structuredContent)
    this.#answered('store', { ...change, id: stored.fact_id })
  }

  async #edit({ mcp }: Surfaces, key: string, factId: string): Promise<void> {
    const change = { op: 'store', key, value: this.#nextValue() } as const
    this.#pending = change
    const args = { fact_id: factId, new_value: change.value, reason: 'better known' }
    const { new_fact } = editedSchema.parse((await mcp.call('memory_edit', args)).structuredContent)
    this.#answered('edit', { ...change, id: new_fact.id })
  }

  async #delete({ mcp, http }: Surfaces, factId: string): Promise<void> {
    const change = { op: 'delete', factId } as const
    this.#pending = change
    if (this.random.integer(0, 1) === 0) await json(http, 'DELETE', `/v1/facts/${factId}`)
    else {
      const { content } = await mcp.call('delete_fact', { fact_id: factId })
      const text = content[0]?.text
      if (text !== `deleted fact ${factId}`) throw new RpcError(0, `delete_fact: ${text}`)
    }
    this.#answered('delete', change)
  }

  async #forget({ mcp }: Surfaces, key: string): Promise<void> {
    const scope = { type: 'entity_prefix', value: this.prefix + key }
    const dry = await mcp.call('memory_forget_dry_run', { scope })
    const { confirm } = drySchema.parse(dry.structuredContent)
    this.#pending = { op: 'forget', key }
    const done = await mcp.call('memory_forget', { scope, reason: 'asked to', confirm })
    const { forget_receipt_id: receipt } = forgottenSchema.parse(done.structuredContent)
    this.#answered('forget', { op: 'forget', key, receipt })
    this.#receipts.push(receipt)
  }

  async #restore({ http }: Surfaces, receipt: string): Promise<void> {
    const change = { op: 'restore', receipt } as const
    this.#pending = change
    await json(http, 'POST', `/v1/memory/forgets/${receipt}/restore`)
    this.#answered('restore', change)
    this.#receipts = this.#receipts.filter((id) => id !== receipt)
  }

  #answered(kind: keyof FactsLane['acknowledged'], change: Change): void {
    this.#pending = undefined
    this.#state = applyChange(this.#state, change)
    this.acknowledged[kind]++
  }

  #nextValue(): string {
    return `${this.prefix}value-${this.#serial++}`
  }
}

async function json(http: HttpCaller, method: string, path: string): Promise<unknown> {
  const { status, text } = await http.request(method, path)
  if (status !== 200) throw new UnexpectedStatus(status, text)
  return JSON.parse(text)
}
