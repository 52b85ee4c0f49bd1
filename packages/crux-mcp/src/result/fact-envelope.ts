import type { FactPage, RankedFact } from 'crux-memory'
import { POINTER_TOKENS, SUMMARY_TOKENS } from 'crux-retrieval'
import { CONSOLE_FACTS_URL } from './crc-v1.js'
import type { FactFragments, FragmentCache } from './fact-fragments.js'
import { type JsonPiece, joinPieces, jsonPiece, type PieceForm } from './json-piece.js'

/** JSON text of facts as rows of answers show them: an array. */
export function factRows(rows: readonly RankedFact[], fragments: FragmentCache): string {
  return `[${rows.map((row) => withScore(fragments.get(row).row, row)).join(',')}]`
}

/** The score of a fact belongs to an answer, and so not to the fragments that are kept. */
function withScore(text: string, { score, scoreSpace }: RankedFact): string {
  if (score === undefined) return text
  return `${text.slice(0, -1)},"score":${score},"score_space":${JSON.stringify(scoreSpace)}}`
}

/**
 * Wrap recalled facts into a CRC-v1 envelope: the first `hydrated` with their text, the others as
 * pointers with the start of what they say and a hash that tells when it changes.
 *
 * Put together from pieces of text: this is the most frequent answer of all.
 *
 * @param page - At least one row.
 * @param asked - What the caller asked for; `isBudgeted` when a budget decided what is given.
 * @returns The envelope's JSON text, plain and as the inside of a JSON string.
 */
export function factEnvelope(
  page: FactPage,
  asked: {
    readonly query?: string | undefined
    readonly entity?: string | undefined
    readonly isBudgeted: boolean
  },
  fragments: FragmentCache,
): JsonPiece {
  const { rows, hydrated } = page
  const parts = rows.map((row) => fragments.get(row))
  const pointers = parts.map((part, index) => (index < hydrated ? part.exact : part.demoted()))
  const contents = parts.slice(0, hydrated).map((part) => part.content)
  const memories = parts.map((part) => part.memory)
  const head = rows.length > hydrated ? HEAD_MIXED : HEAD_FULL
  const middle = jsonPiece(costAndFreshness(rows, parts))
  const end = jsonPiece(nextAndMeta(page, asked))
  const write = (form: PieceForm): string =>
    head[form] +
    joinPieces(pointers, form) +
    CONTENT[form] +
    joinPieces(contents, form) +
    middle[form] +
    joinPieces(memories, form) +
    AFTER_MEMORIES[form] +
    end[form]
  return { plain: write('plain'), quoted: write('quoted') }
}

const HEAD = '{"contract":"crc-v1","kind":"fact","hydrate_tier":'
const HEAD_FULL = jsonPiece(`${HEAD}"full","pointers":[`)
const HEAD_MIXED = jsonPiece(`${HEAD}"mixed","pointers":[`)
const CONTENT = jsonPiece('],"content":[')
const AFTER_MEMORIES = jsonPiece(
  `],"autonomy_consumed":${JSON.stringify({
    capability: 'facts:read',
    cost_credits: 0,
    scope: 'agent',
  })},"links":${JSON.stringify({ open_in_console: CONSOLE_FACTS_URL })}}`,
)

/** From the end of `content` to the start of `memories_used`. */
function costAndFreshness(rows: readonly RankedFact[], parts: readonly FactFragments[]): string {
  const first = rows[0]
  const cost = {
    pointer: POINTER_TOKENS * rows.length,
    summary: SUMMARY_TOKENS * rows.length,
    full: parts.reduce((sum, part) => sum + part.valueTokens, 0),
  }
  const freshness = {
    effective_confidence: first?.effectiveConfidence ?? null,
    age_hours: first?.ageHours ?? null,
    horizon_class: first?.fact.horizon_class ?? null,
    superseded_by: first?.fact.superseded_by ?? null,
  }
  return (
    `],"cost_estimate":${JSON.stringify(cost)},"agent_decision":null,` +
    `"envelope":{"freshness":${JSON.stringify(freshness)},"receipts_used":[],"memories_used":[`
  )
}

/** From the end of the inner `envelope` to the end. */
function nextAndMeta(
  { rows, hydrated, matched }: FactPage,
  asked: Parameters<typeof factEnvelope>[1],
): string {
  const demoted = rows.length - hydrated
  const capped = asked.isBudgeted ? matched - rows.length : 0
  const next = {
    canonical_slug: asked.entity ?? rows[0]?.entity ?? null,
    resolution_pointer: null,
    expand: null,
  }
  const meta = {
    resolved_by: asked.entity === undefined ? 'query' : 'entity+key',
    ranked: asked.query !== undefined && asked.entity === undefined,
    ...(demoted > 0 || capped > 0
      ? {
          demoted,
          total_candidates: matched,
          emitted_full: hydrated,
          ...(capped > 0 ? { capped } : {}),
        }
      : {}),
  }
  return `,"next":${JSON.stringify(next)},"meta":${JSON.stringify(meta)}}`
}
