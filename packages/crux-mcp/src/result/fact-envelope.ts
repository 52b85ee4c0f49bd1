import type { FactPage, RankedFact } from 'crux-memory'
import { POINTER_TOKENS, SUMMARY_TOKENS } from 'crux-retrieval'
import { CONSOLE_FACTS_URL } from './crc-v1.js'
import type { FactFragments, FragmentCache } from './fact-fragments.js'
import {
  type JsonPiece,
  jsonPiece,
  type PieceForm,
  pieceTemplate,
  valuePiece,
} from './json-piece.js'

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
  const head = rows.length > hydrated ? HEAD_MIXED : HEAD_FULL
  const middle = costAndFreshness(parts)
  const end = nextAndMeta(page, asked, parts[0])
  const write = (form: PieceForm): string => {
    let pointers = ''
    let contents = ''
    let memories = ''
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at] as FactFragments // below the length
      const comma = at === 0 ? '' : ','
      memories += comma + part.memory[form]
      if (at < hydrated) {
        pointers += comma + part.exact[form]
        contents += comma + part.content[form]
      } else {
        pointers += comma + part.demoted()[form]
      }
    }
    const found = head[form] + pointers + CONTENT[form] + contents
    return found + middle[form] + memories + AFTER_MEMORIES[form] + end[form]
  }
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
const NULL = valuePiece(null)
const NOTHING = jsonPiece('')

const COST_AND_FRESHNESS = pieceTemplate`],"cost_estimate":{"pointer":${'pointer'},"summary":${'summary'},"full":${'full'}},"agent_decision":null,"envelope":{"freshness":${'freshness'},"receipts_used":[],"memories_used":[`

/** From the end of `content` to the start of `memories_used`. */
function costAndFreshness(parts: readonly FactFragments[]): JsonPiece {
  let full = 0
  for (const { valueTokens } of parts) full += valueTokens
  return COST_AND_FRESHNESS({
    pointer: valuePiece(POINTER_TOKENS * parts.length),
    summary: valuePiece(SUMMARY_TOKENS * parts.length),
    full: valuePiece(full),
    freshness: parts[0]?.freshness ?? NULL,
  })
}

const NEXT_AND_META = pieceTemplate`,"next":{"canonical_slug":${'slug'},"resolution_pointer":null,"expand":null},"meta":{"resolved_by":${'resolvedBy'},"ranked":${'isRanked'}${'counts'}}}`
const BY_QUERY = valuePiece('query')
const BY_ENTITY = valuePiece('entity+key')

/** From the end of the inner `envelope` to the end. */
function nextAndMeta(
  { rows, hydrated, matched }: FactPage,
  { query, entity, isBudgeted }: Parameters<typeof factEnvelope>[1],
  first: FactFragments | undefined,
): JsonPiece {
  const demoted = rows.length - hydrated
  const capped = isBudgeted ? matched - rows.length : 0
  const hasLess = demoted > 0 || capped > 0
  return NEXT_AND_META({
    slug: entity === undefined ? (first?.entity ?? NULL) : valuePiece(entity),
    resolvedBy: entity === undefined ? BY_QUERY : BY_ENTITY,
    isRanked: valuePiece(query !== undefined && entity === undefined),
    counts: hasLess ? countsPiece({ demoted, matched, hydrated, capped }) : NOTHING,
  })
}

function countsPiece(of: {
  readonly demoted: number
  readonly matched: number
  readonly hydrated: number
  readonly capped: number
}): JsonPiece {
  const { demoted, matched, hydrated, capped } = of
  const counts = { demoted, total_candidates: matched, emitted_full: hydrated }
  return jsonPiece(`,${JSON.stringify({ ...counts, ...(capped > 0 && { capped }) }).slice(1, -1)}`)
}
