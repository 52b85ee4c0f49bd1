import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { createHttpCaller, type HttpCaller, UnexpectedStatus } from '../http.js'
import { createMcpCaller, type McpCaller, RpcError, textOf } from '../mcp.js'
import { ask, history, recall } from '../questions.js'
import type { Random } from '../random.js'
import type { Daemon } from '../sandbox.js'
import { ChainModel, LatestModel } from './model.js'

const TENANT = 'crash'
const ROUNDS_PER_HOT_KEY = 20
const DOCUMENTS_PER_GROUP = 3

const storedFact = z.looseObject({ fact_id: z.string(), version: z.number() })
const savedState = z.looseObject({ revision: z.number() })

/** A fact and the one that retires it in the same append. */
interface Pair {
  readonly entity: string
  oldIsStored: boolean
  newIsSent: boolean
  newIsStored: boolean
}

/** Counts over the whole run, to show that it did something. */
export interface WorkloadTotals {
  facts: number
  deletions: number
  pairs: number
  sessions: number
  ingests: number
}

/**
 * Concurrent writers over MCP and HTTP, and the model of what they were promised.
 *
 * Use: `write` until the daemon dies, start it again, `verify`, and so on.
 */
export class Workload {
  readonly totals: WorkloadTotals = { facts: 0, deletions: 0, pairs: 0, sessions: 0, ingests: 0 }
  readonly #chains: ChainModel[] = []
  readonly #sessions = [1, 2, 3].map((n) => new LatestModel(`crash-session-${n}`))
  readonly #groups = ['alpha', 'beta'].map((name) => new LatestModel(`group${name}`))
  #pairs: Pair[] = []
  #recent: ChainModel[] = []
  #hot = new ChainModel('hot:0', 'counter')
  #round = 0
  #serial = 0
  #isStopping = false
  #isDead = false

  constructor(private readonly random: Random) {
    this.#chains.push(this.#hot)
  }

  /** Writes acknowledged so far, of every kind. */
  get acknowledged(): number {
    return Object.values(this.totals).reduce((sum, count) => sum + count, 0)
  }

  /** From now on failures of requests are expected: the daemon is being killed. */
  stopping(): void {
    this.#isStopping = true
  }

  /** The daemon is gone: no writer tries again. */
  killed(): void {
    this.#isDead = true
  }

  /** Write until requests fail or {@link killed} is called. @returns Failures that no crash explains. */
  async write(daemon: Daemon): Promise<string[]> {
    this.#beginRound()
    const mcp = createMcpCaller(daemon.mcpUrl)
    const http = createHttpCaller(daemon.httpUrl)
    const faults: string[] = []
    const loop = async (step: () => Promise<void>): Promise<void> => {
      try {
        while (!this.#isDead) await step()
      } catch (error) {
        // A killed daemon refuses or drops connections; a wrong answer is a fault at any time
        // but while it shuts down in order.
        const isAnswer = error instanceof RpcError || error instanceof UnexpectedStatus
        if (!this.#isStopping || (isAnswer && !isShuttingDown(error))) faults.push(String(error))
      }
    }
    await Promise.all([
      ...this.#recent.flatMap((chain) => [
        loop(() => this.#storeOverMcp(mcp, chain)),
        loop(() => this.#storeOverHttp(http, chain)),
      ]),
      loop(() => this.#storeOverMcp(mcp, this.#hot)),
      loop(() => this.#storeOverMcp(mcp, this.#hot)),
      loop(() => this.#storeOverHttp(http, this.#hot)),
      loop(() => this.#delete(mcp)),
      loop(() => this.#storePair(mcp)),
      ...this.#sessions.map((session) => loop(() => this.#saveSession(mcp, session))),
      ...this.#groups.map((group) => loop(() => this.#ingest(http, group))),
    ])
    await Promise.all([mcp.close(), http.close()])
    return faults
  }

  /**
   * Compare the daemon with the model.
   *
   * @param scope - `recent`: what the last round wrote; `all`: everything since the beginning.
   */
  async verify(daemon: Daemon, scope: 'recent' | 'all'): Promise<string[]> {
    const mcp = createMcpCaller(daemon.mcpUrl)
    const chains = scope === 'all' ? this.#chains : [...this.#recent, this.#hot]
    const faults: string[][] = []
    for (const chain of chains) {
      faults.push(chain.settle(await history(mcp.call, chain.entity, chain.key)))
    }
    for (const pair of this.#pairs) faults.push(await verifyPair(mcp, pair))
    for (const session of this.#sessions) {
      const { structuredContent } = await mcp.call('get_session', { session_id: session.name })
      const state = savedState.safeParse(structuredContent?.state)
      faults.push(session.settle(state.success ? [state.data.revision] : []))
    }
    for (const group of this.#groups) faults.push(await verifyGroup(mcp, group))
    await mcp.close()
    return faults.flat()
  }

  #beginRound(): void {
    this.#isStopping = false
    this.#isDead = false
    if (this.#round % ROUNDS_PER_HOT_KEY === 0 && this.#round > 0) {
      this.#hot = new ChainModel(`hot:${this.#round}`, 'counter')
      this.#chains.push(this.#hot)
    }
    this.#recent = [1, 2, 3].map((n) => new ChainModel(`crash:${this.#round}`, `key-${n}`))
    this.#chains.push(...this.#recent)
    this.#pairs = []
    this.#round++
  }

  async #storeOverMcp(mcp: McpCaller, chain: ChainModel): Promise<void> {
    const { entity, key } = chain
    const value = this.#nextValue()
    chain.sent(value)
    const { structuredContent } = await mcp.call('store_fact', { entity, key, value })
    const { fact_id, version } = storedFact.parse(structuredContent)
    chain.stored(value, version, fact_id)
    this.totals.facts++
  }

  async #storeOverHttp(http: HttpCaller, chain: ChainModel): Promise<void> {
    const { entity, key } = chain
    const value = this.#nextValue()
    chain.sent(value)
    const { fact_id, version } = await http.putFact({ entity, key, value })
    chain.stored(value, version, fact_id)
    this.totals.facts++
  }

  async #delete(mcp: McpCaller): Promise<void> {
    await sleep(this.random.integer(5, 20))
    const chain = this.#recent[this.random.integer(0, this.#recent.length - 1)]
    const [factId] = chain?.deletable() ?? []
    if (chain === undefined || factId === undefined) return
    chain.deleting(factId)
    const text = textOf(await mcp.call('delete_fact', { fact_id: factId }))
    if (text !== `deleted fact ${factId}`) throw new RpcError(0, text)
    chain.deleted(factId)
    this.totals.deletions++
  }

  async #storePair(mcp: McpCaller): Promise<void> {
    const entity = `pair:${this.#serial++}`
    const pair: Pair = { entity, oldIsStored: false, newIsSent: false, newIsStored: false }
    this.#pairs.push(pair)
    const old = await mcp.call('store_fact', { entity, key: 'old', value: 'old' })
    pair.oldIsStored = true
    const { fact_id } = storedFact.parse(old.structuredContent)
    pair.newIsSent = true
    await mcp.call('store_fact', { entity, key: 'new', value: 'new', supersedes: [fact_id] })
    pair.newIsStored = true
    this.totals.pairs++
  }

  async #saveSession(mcp: McpCaller, session: LatestModel): Promise<void> {
    const revision = session.next()
    await mcp.call('save_session', { session_id: session.name, state: { revision } })
    session.stored(revision)
    this.totals.sessions++
  }

  async #ingest(http: HttpCaller, group: LatestModel): Promise<void> {
    await sleep(this.random.integer(5, 40))
    const revision = group.next()
    await http.ingest(
      TENANT,
      Array.from({ length: DOCUMENTS_PER_GROUP }, (_, n) => ({
        docId: `${group.name}/${n}.md`,
        text: `${group.name} document ${n} revision ${revision}`,
      })),
    )
    group.stored(revision)
    this.totals.ingests++
  }

  #nextValue(): string {
    return `value-${this.#serial++}`
  }
}

/** A store and what it retires are one change: the old one shows exactly when the new one does not. */
async function verifyPair(mcp: McpCaller, pair: Pair): Promise<string[]> {
  const shown = (await recall(mcp.call, { entity: pair.entity })).join()
  const allowed = pair.newIsStored
    ? ['new']
    : pair.newIsSent
      ? ['old', 'new']
      : pair.oldIsStored
        ? ['old']
        : ['', 'old']
  if (allowed.includes(shown)) return []
  return [`${pair.entity}: shows '${shown}', expected ${allowed.join(' or ')}`]
}

/** Documents of one ingest are there together, once each. */
async function verifyGroup(mcp: McpCaller, group: LatestModel): Promise<string[]> {
  const passages = await ask(mcp.call, TENANT, group.name)
  const revisions = passages.map(({ text }) => Number(/revision (\d+)$/.exec(text)?.[1]))
  const count = passages.length
  if (count !== 0 && count !== DOCUMENTS_PER_GROUP) {
    return [`${group.name}: ${count} passages: ${passages.map(({ text }) => text).join('; ')}`]
  }
  return group.settle([...new Set(revisions)])
}

function isShuttingDown(error: unknown): boolean {
  return error instanceof UnexpectedStatus && error.status === 503
}
