import { type Caller, createPauser } from 'crux-types'
import { CAPABILITY_KIND } from './built-in-kinds.js'
import type { EntityStore } from './entity-store.js'

/** A capability whose description shares words with what somebody is about to build. */
export interface SimilarCapability {
  readonly id: string
  readonly name: string | null
  readonly system: string | null
  readonly maturity: string | null
  readonly files: readonly string[]
  /** Different words of the description that occur in its name, description or files. */
  readonly overlap_terms: number
}

const MIN_TERM_LENGTH = 3

/**
 * Capabilities of the caller's tenant that share words with a description, most words first, then
 * by id.
 *
 * A word is a run of letters and digits, three at least; it counts where it is part of a longer one.
 *
 * @param limit - Most capabilities.
 */
export async function similarCapabilities(
  entities: Pick<EntityStore, 'list'>,
  caller: Caller,
  description: string,
  limit: number,
): Promise<readonly SimilarCapability[]> {
  const terms = termsOf(description)
  if (terms.length === 0) return []
  const pause = createPauser()
  const similar: SimilarCapability[] = []
  for (const { id, payload } of await entities.list(caller, { kind: CAPABILITY_KIND })) {
    const members = new Map<string, unknown>(
      typeof payload === 'object' && payload !== null ? Object.entries(payload) : [],
    )
    const text = (member: string): string | null => {
      const found = members.get(member)
      return typeof found === 'string' ? found : null
    }
    const listed = members.get('files')
    const files = Array.isArray(listed)
      ? listed.filter((file): file is string => typeof file === 'string')
      : []
    const words = [text('name') ?? '', text('description') ?? '', ...files].join(' ').toLowerCase()
    const overlap = terms.filter((term) => words.includes(term)).length
    if (overlap > 0) {
      similar.push({
        id,
        name: text('name'),
        system: text('system'),
        maturity: text('maturity'),
        files,
        overlap_terms: overlap,
      })
    }
    const waiting = pause()
    if (waiting !== undefined) await waiting
  }
  // Sorting keeps the order of ids among equals.
  return similar.sort((a, b) => b.overlap_terms - a.overlap_terms).slice(0, limit)
}

function termsOf(description: string): readonly string[] {
  const words = description.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  return [...new Set(words.filter((word) => word.length >= MIN_TERM_LENGTH))]
}
