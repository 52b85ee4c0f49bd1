import { EXTENSION_GRANT_PREFIX, EXTENSION_PREFIX, type FactStore } from 'crux-memory'
import { type Caller, createPauser } from 'crux-types'
import { z } from 'zod'

const MOST_INSTALLED = 500
const MOST_GRANTS = 5000
const RECORD_KEY = 'record'
/** Tools of one extension that are looked at. */
const MOST_TOOLS = 128
const MAX_DESCRIPTION_CHARS = 1024
const MAX_SCHEMA_CHARS = 16 * 1024

/** How far the publisher of an extension is trusted. */
export const TRUST_TIERS = [
  'first_party',
  'locally_signed',
  'community_reviewed',
  'unknown',
] as const

const jsonObject = z.record(z.string(), z.unknown())

const toolSchema = z.object({
  name: z.string().min(1),
  description: z.string().min(1).max(MAX_DESCRIPTION_CHARS),
  input_schema: jsonObject.refine((schema) => JSON.stringify(schema).length <= MAX_SCHEMA_CHARS),
  consequence_metadata: jsonObject.nullish(),
})

const installedSchema = z.object({
  manifest: z.object({
    id: z.string().regex(/^[a-z0-9._-]{1,128}$/),
    // One tool that cannot be listed does not take the others away.
    tools: z
      .array(z.unknown())
      .max(MOST_TOOLS)
      .default([])
      .transform((tools) => tools.flatMap((tool) => toolSchema.safeParse(tool).data ?? [])),
  }),
  manifest_hash: z.string(),
  trust_tier: z.enum(TRUST_TIERS).catch('unknown'),
})

const grantSchema = z.object({
  extension_id: z.string(),
  passport_fpr: z.string(),
  /** Empty: all of them. */
  allowed_tool_names: z.array(z.string()).default([]),
})

/** An extension as it was installed, as far as lists of tools go. */
export interface InstalledExtension extends z.output<typeof installedSchema> {
  /** Id of the fact that holds it: another one whenever the record changes. */
  readonly revision: string
}

/** Which tools of an extension the holder of a passport may use. */
export type ExtensionGrant = z.output<typeof grantSchema>

/** What is read of the store. */
export type RecordSource = Pick<FactStore, 'systemRecords'>

/** The extensions of the caller's tenant; records that make no sense are passed over. */
export function readInstalled(
  facts: RecordSource,
  caller: Caller,
): Promise<readonly InstalledExtension[]> {
  const query = { entityPrefix: EXTENSION_PREFIX, topK: MOST_INSTALLED }
  return readRecords(facts, caller, query, (value, revision) => {
    const { data } = installedSchema.safeParse(value)
    return data === undefined ? undefined : { ...data, revision }
  })
}

/** The grants of the caller's tenant to the holder of a passport. */
export function readGrants(
  facts: RecordSource,
  caller: Caller,
  passport: string,
): Promise<readonly ExtensionGrant[]> {
  const query = { entityPrefix: EXTENSION_GRANT_PREFIX, topK: MOST_GRANTS }
  return readRecords(facts, caller, query, (value) => {
    const { data } = grantSchema.safeParse(value)
    return data?.passport_fpr === passport ? data : undefined
  })
}

/** The version in force of each record; without the blank ones, which say that it is gone. */
async function readRecords<Kept>(
  facts: RecordSource,
  caller: Caller,
  query: { readonly entityPrefix: string; readonly topK: number },
  read: (value: unknown, revision: string) => Kept | undefined,
): Promise<readonly Kept[]> {
  const found = await facts.systemRecords(caller, query)
  const newest = new Map<string, (typeof found.facts)[number]>()
  for (const fact of found.facts) {
    if (fact.key !== RECORD_KEY) continue
    const held = newest.get(fact.entity)
    if (held === undefined || fact.version > held.version) newest.set(fact.entity, fact)
  }
  const pause = createPauser()
  const records: Kept[] = []
  for (const { value, fact_id, superseded_by } of newest.values()) {
    await pause()
    // The newest version may have been deleted: what it replaced does not come back by that.
    if (superseded_by !== undefined || value.trim() === '') continue
    const record = read(parsed(value), fact_id)
    if (record !== undefined) records.push(record)
  }
  return records
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
