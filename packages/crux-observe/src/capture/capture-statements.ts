import { createHash } from 'node:crypto'
import {
  type Candidate,
  type CandidateSource,
  extractStatements,
  type FactStore,
  type Statement,
} from 'crux-memory'
import { type Caller, createPauser, cutUtf8, isObject } from 'crux-types'
import type { Observation } from '../observations/observation.js'
import type { ObservationStore } from '../observations/observation-store.js'

/** Most candidates of one capture. */
export const MAX_CAPTURED = 100
/** Longest text that is read, in bytes; of a longer one the beginning. */
export const MAX_CAPTURE_TEXT_BYTES = 64 * 1024
/** What a person says to an agent, as hooks report it. */
export const CAPTURED_KINDS: readonly string[] = ['user_prompt']
// Where programs put the text of a prompt.
const TEXT_MEMBERS = ['text', 'prompt', 'content', 'message']
/** Facts of one entity and key that are looked at. */
const KNOWN_FACTS = 50

/** What came of a capture. */
export interface Capture {
  /** Texts that were read. */
  readonly scanned: number
  /** What was proposed; a proposal that was there already as it is now. */
  readonly candidates: readonly Candidate[]
  /** Statements that a stored fact makes already. */
  readonly known: number
  /** Statements that speak of a secret. */
  readonly withheld: number
  /** Id of the observation after which to go on, when there is more. */
  readonly next: string | undefined
}

type Facts = Pick<FactStore, 'candidates' | 'query'>

/**
 * Propose as facts what people stated in the observations of a session. Nothing is stored as a fact before
 * somebody promotes the candidate, and what was proposed before is not proposed again.
 *
 * @throws {CruxError} `ADMIN_REQUIRED`, and what the store of observations throws.
 */
export async function captureFromSession(
  { facts, observations }: { facts: Facts; observations: Pick<ObservationStore, 'list'> },
  caller: Caller,
  from: {
    readonly sessionId: string
    readonly after?: string | undefined
    readonly kinds?: readonly string[] | undefined
    readonly limit: number
  },
  signal?: AbortSignal,
): Promise<Capture> {
  const { sessionId, after, kinds = CAPTURED_KINDS, limit } = from
  const page = await observations.list(caller, sessionId, { after, limit }, signal)
  const capturing = new Capturing(facts, caller, signal)
  let last: string | undefined
  for (const observation of page.observations) {
    if (capturing.isFull) break
    last = observation.observation_id
    if (!kinds.includes(observation.kind ?? '')) continue
    for (const text of textsOf(observation)) {
      const { seq } = observation
      await capturing.read(text, {
        session_id: sessionId,
        ...(seq === undefined ? {} : { observation_seq: seq }),
      })
    }
  }
  const isAll = !page.hasMore && last === page.observations.at(-1)?.observation_id
  return capturing.result(isAll ? undefined : last)
}

/** The same for one text. @throws {CruxError} `ADMIN_REQUIRED`. */
export async function captureFromText(
  { facts }: { readonly facts: Facts },
  caller: Caller,
  text: string,
  signal?: AbortSignal,
): Promise<Capture> {
  const capturing = new Capturing(facts, caller, signal)
  await capturing.read(text, {})
  return capturing.result(undefined)
}

/** One capture while it goes on. */
class Capturing {
  readonly #candidates = new Map<string, Candidate>()
  readonly #pause
  #scanned = 0
  #known = 0
  #withheld = 0

  constructor(
    private readonly facts: Facts,
    private readonly caller: Caller,
    signal: AbortSignal | undefined,
  ) {
    this.#pause = createPauser({ signal })
  }

  get isFull(): boolean {
    return this.#candidates.size >= MAX_CAPTURED
  }

  async read(text: string, source: CandidateSource): Promise<void> {
    this.#scanned++
    const { statements, withheld } = extractStatements(cutUtf8(text, MAX_CAPTURE_TEXT_BYTES))
    this.#withheld += withheld
    for (const statement of statements) {
      if (this.isFull) return
      await this.#pause()
      if (await this.#isKnown(statement)) this.#known++
      else await this.#propose(statement, source)
    }
  }

  result(next: string | undefined): Capture {
    return {
      scanned: this.#scanned,
      candidates: [...this.#candidates.values()],
      known: this.#known,
      withheld: this.#withheld,
      next,
    }
  }

  async #isKnown({ entity, key, value }: Statement): Promise<boolean> {
    const { rows } = await this.facts.query(this.caller, { entity, query: key, topK: KNOWN_FACTS })
    return rows.some(({ fact }) => fact.key === key && fact.value === value)
  }

  async #propose(statement: Statement, source: CandidateSource): Promise<void> {
    const candidateId = idOf(statement)
    const candidate = await this.facts.candidates.propose(this.caller, {
      candidateId,
      proposedEntity: statement.entity,
      proposedKey: statement.key,
      proposedValue: statement.value,
      rule: statement.rule,
      confidence: statement.confidence,
      decayClass: statement.decayClass,
      source: { ...source, evidence: statement.evidence },
    })
    this.#candidates.set(candidateId, candidate)
  }
}

/** The same statement has the same id, wherever it was made. */
function idOf({ entity, key, value }: Statement): string {
  const told = JSON.stringify([entity, key, value])
  return `capture-${createHash('sha256').update(told).digest('hex').slice(0, 32)}`
}

function textsOf({ payload }: Observation): readonly string[] {
  if (typeof payload === 'string') return [payload]
  if (!isObject(payload)) return []
  return TEXT_MEMBERS.map((name) => payload[name]).filter((text) => typeof text === 'string')
}
