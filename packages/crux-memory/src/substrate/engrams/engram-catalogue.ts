import { type Caller, CruxError } from 'crux-types'
import type { FactStore } from '../../fact-store.js'
import { ENGRAM_PREFIX } from '../../recall/bootstrap-facts.js'
import type { Blake3 } from '../blake3.js'
import type { SubstrateErrorCode } from '../errors.js'
import { BUILT_IN_ENGRAMS } from './built-in-engrams.js'
import {
  type CapabilityClass,
  capabilityClassOf,
  type Engram,
  isOffered,
  parseEngram,
} from './engram.js'

/** Which engrams are asked for. */
export interface EngramQuery {
  /** Id of the model that will read them; decides its class. */
  readonly modelId?: string
  /** Exactly this bucket. */
  readonly intentBucket?: string
  /** Written into the manifest; engrams are those of the caller's home tenant whatever it says. */
  readonly tenantLabel: string
}

/** What there is, by hash: enough to notice a change without reading a word of it. */
export interface EngramManifest {
  readonly schema: 'crux.local.engram_manifest.v1'
  readonly tenant_id: string
  readonly capability_class: CapabilityClass
  /** Over the other members. */
  readonly manifest_hash: string
  /** By bucket, then name. Hashes have the form `blake3:<hex>`. */
  readonly engrams: readonly {
    readonly name: string
    readonly version: string
    readonly intent_bucket: string
    readonly prompt_hash: string
    readonly applicable_why_hash: string | null
    readonly generated_class: string | null
    readonly source_chunk_hashes: readonly string[]
    readonly source_chunk_set_hash: string | null
    readonly inherited_reason: string | null
    readonly policy_hash: string | null
  }[]
}

/** Engrams with their content. */
export interface ResolvedEngrams {
  readonly capability_class: CapabilityClass
  /** In the order of the names. */
  readonly engrams: readonly {
    readonly name: string
    readonly version: string
    readonly intent_bucket: string
    readonly content: string
    readonly prompt_hash: string
    readonly applicable_why: string | null
  }[]
  readonly engram_set_hash: {
    readonly schema: 'crux.local.engram_set_hash.v1'
    readonly hash: string
    readonly count: number
  }
  readonly manifest_hash: string
}

/** Built-in engrams and those that a tenant keeps as facts under `__engram__::`. */
export interface EngramCatalogue {
  /** Everything that is switched on and for the model's class. */
  manifest(caller: Caller, query: EngramQuery): Promise<EngramManifest>
  /**
   * Engrams by `name@version`.
   *
   * @throws {CruxError} `ENGRAMS_UNAVAILABLE` when one of them is not to be had; all that are not are named.
   */
  resolve(caller: Caller, names: readonly string[], query: EngramQuery): Promise<ResolvedEngrams>
}

const MAX_STORED = 500

/** The catalogue over a fact store. */
export function createEngramCatalogue(options: {
  readonly facts: Pick<FactStore, 'systemRecords'>
  readonly hashes: Blake3
}): EngramCatalogue {
  const { facts, hashes } = options
  const hash = (text: string): string => {
    const stream = hashes.blake3Stream()
    stream.update(Buffer.from(text))
    return `blake3:${Buffer.from(stream.digest()).toString('hex')}`
  }
  const hashOrNull = (text: string | null): string | null => (text === null ? null : hash(text))

  /** By `name@version`, in the order of bucket and name. */
  const offered = async (caller: Caller, query: EngramQuery): Promise<Map<string, Engram>> => {
    const capabilityClass = capabilityClassOf(query.modelId)
    const stored = await storedEngrams(facts, caller)
    const all = new Map<string, Engram>()
    for (const engram of [...BUILT_IN_ENGRAMS, ...stored]) all.set(nameOf(engram), engram)
    const wanted = [...all].filter(
      ([, engram]) =>
        (query.intentBucket === undefined || engram.intent_bucket === query.intentBucket) &&
        isOffered(engram, capabilityClass),
    )
    wanted.sort(([, a], [, b]) => compareBucketName(a, b))
    return new Map(wanted)
  }

  const manifestOf = (engrams: Iterable<Engram>, query: EngramQuery): EngramManifest => {
    const body = {
      schema: 'crux.local.engram_manifest.v1',
      tenant_id: query.tenantLabel,
      capability_class: capabilityClassOf(query.modelId),
    } as const
    const entries = [...engrams].map((engram) => ({
      name: engram.name,
      version: engram.version,
      intent_bucket: engram.intent_bucket,
      prompt_hash: hash(engram.content),
      applicable_why_hash: hashOrNull(engram.applicable_why),
      generated_class: engram.generated_class,
      source_chunk_hashes: engram.source_chunk_hashes,
      source_chunk_set_hash: engram.source_chunk_set_hash,
      inherited_reason: engram.inherited_reason,
      policy_hash: engram.policy_hash,
    }))
    const manifest_hash = hash(JSON.stringify({ ...body, engrams: entries }))
    return { ...body, manifest_hash, engrams: entries }
  }

  return {
    async manifest(caller, query) {
      return manifestOf((await offered(caller, query)).values(), query)
    },

    async resolve(caller, names, query) {
      const all = await offered(caller, query)
      const found: Engram[] = []
      const missing: string[] = []
      for (const name of names) {
        // The version comes after the last sign, so that names may hold it; both are needed.
        const at = name.lastIndexOf('@')
        const engram = at <= 0 || at === name.length - 1 ? undefined : all.get(name)
        if (engram === undefined) missing.push(name)
        else found.push(engram)
      }
      const capability_class = capabilityClassOf(query.modelId)
      if (missing.length > 0) {
        throw new CruxError<SubstrateErrorCode>(
          'ENGRAMS_UNAVAILABLE',
          `capability_class_mismatch_or_missing: ${missing.join(', ')}`,
          { data: { missing, capability_class } },
        )
      }
      const engrams = found.map((engram) => ({
        name: engram.name,
        version: engram.version,
        intent_bucket: engram.intent_bucket,
        content: engram.content,
        prompt_hash: hash(engram.content),
        applicable_why: engram.applicable_why,
      }))
      const set = engrams.map(({ name, version, prompt_hash }) => ({ name, version, prompt_hash }))
      return {
        capability_class,
        engrams,
        engram_set_hash: {
          schema: 'crux.local.engram_set_hash.v1',
          hash: hash(JSON.stringify(set)),
          count: engrams.length,
        },
        manifest_hash: manifestOf(all.values(), query).manifest_hash,
      }
    },
  }
}

/** The newest version of each fact that holds an engram; what holds none is passed over. */
async function storedEngrams(
  facts: Pick<FactStore, 'systemRecords'>,
  caller: Caller,
): Promise<Engram[]> {
  const { facts: found } = await facts.systemRecords(caller, {
    entityPrefix: ENGRAM_PREFIX,
    topK: MAX_STORED,
  })
  const newest = new Map<string, (typeof found)[number]>()
  for (const fact of found) {
    const name = JSON.stringify([fact.entity, fact.key])
    const known = newest.get(name)
    if (known === undefined || fact.version > known.version) newest.set(name, fact)
  }
  return [...newest.values()].flatMap(({ value }) => parseEngram(value) ?? [])
}

function nameOf({ name, version }: Engram): string {
  return `${name}@${version}`
}

function compareBucketName(a: Engram, b: Engram): number {
  const [left, right] = [
    [a.intent_bucket, a.name, a.version],
    [b.intent_bucket, b.name, b.version],
  ]
  for (const [i, text] of left.entries()) {
    const other = right[i] ?? ''
    if (text !== other) return text < other ? -1 : 1
  }
  return 0
}
