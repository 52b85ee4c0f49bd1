/** A short instruction that an agent can take into its prompt, by name and version. */
export interface Engram {
  readonly id: string
  readonly name: string
  readonly version: string
  /** What kind of work it is for. */
  readonly intent_bucket: string
  readonly query_pattern: string | null
  /** The instruction. */
  readonly content: string
  /** When it helps. */
  readonly applicable_why: string | null
  /** Bounds of the classes of models that it is for, both included; null is no bound. */
  readonly capability_class_min: string | null
  readonly capability_class_max: string | null
  /** Class of the model that wrote it. */
  readonly generated_class: string | null
  readonly source_chunk_hashes: readonly string[]
  readonly source_chunk_set_hash: string | null
  readonly inherited_reason: string | null
  readonly policy_hash: string | null
  readonly enabled: boolean
  /** Milliseconds since 1970-01-01 UTC. */
  readonly created_at_unix_ms: number
}

/** How able a model is, as far as its name tells. */
export type CapabilityClass = 'fast' | 'capable' | 'frontier'

const FAST = ['mini', 'haiku', 'flash']
const FRONTIER = ['opus', 'fable', 'frontier', 'gpt-5.5']

/** Class of a model by its id, in any letter case; `capable` when the id is absent or says nothing. */
export function capabilityClassOf(modelId: string | undefined): CapabilityClass {
  const id = modelId?.toLowerCase() ?? ''
  if (FAST.some((word) => id.includes(word))) return 'fast'
  return FRONTIER.some((word) => id.includes(word)) ? 'frontier' : 'capable'
}

/** Whether an engram is switched on and for models of a class. */
export function isOffered(engram: Engram, capabilityClass: CapabilityClass): boolean {
  const { capability_class_min: min, capability_class_max: max } = engram
  const rank = rankOf(capabilityClass)
  return (
    engram.enabled && (min === null || rankOf(min) <= rank) && (max === null || rank <= rankOf(max))
  )
}

function rankOf(capabilityClass: string): number {
  if (capabilityClass === 'fast') return 0
  return capabilityClass === 'frontier' ? 2 : 1
}

/**
 * An engram from its JSON.
 *
 * @returns Undefined when it is none: name, version, bucket and content are needed.
 */
export function parseEngram(json: string): Engram | undefined {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const members = new Map<string, unknown>(Object.entries(value))
  const text = (member: string): string | null => {
    const found = members.get(member)
    return typeof found === 'string' ? found : null
  }
  const name = text('name')
  const version = text('version')
  const bucket = text('intent_bucket')
  const content = text('content')
  if (!name || !version || bucket === null || content === null) return undefined
  const hashes = members.get('source_chunk_hashes')
  const createdAt = members.get('created_at_unix_ms')
  return {
    id: text('id') ?? `${name}@${version}`,
    name,
    version,
    intent_bucket: bucket,
    query_pattern: text('query_pattern'),
    content,
    applicable_why: text('applicable_why'),
    capability_class_min: text('capability_class_min'),
    capability_class_max: text('capability_class_max'),
    generated_class: text('generated_class'),
    source_chunk_hashes: Array.isArray(hashes)
      ? hashes.filter((hash): hash is string => typeof hash === 'string')
      : [],
    source_chunk_set_hash: text('source_chunk_set_hash'),
    inherited_reason: text('inherited_reason'),
    policy_hash: text('policy_hash'),
    enabled: members.get('enabled') !== false,
    created_at_unix_ms: typeof createdAt === 'number' ? createdAt : 0,
  }
}
