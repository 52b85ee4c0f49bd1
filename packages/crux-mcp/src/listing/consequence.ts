/** What calling a tool can bring about; published with every tool so that hosts can ask first. */
export interface Consequence {
  readonly schema: 'crux.tool_consequence_metadata.v1'
  readonly domain: string
  readonly reversibility: string
  readonly materiality: readonly string[]
  readonly idempotency_class: string
  readonly blast_radius: string
  readonly compensating_tool?: string
  readonly pro_enricher_available: boolean
}

type Rule = readonly [label: string, words: string]

// First rule with a word that occurs in the name wins. Words that are phrases use `_` here.
const DOMAINS: readonly Rule[] = [
  ['email_calendar', 'calendar meeting invite attendee email mail recipient schedule'],
  ['crm_customer', 'crm customer account opportunity deal invoice refund payment billing'],
  ['code', 'github git commit branch pull_request deploy test route api'],
  ['file', 'file path document drive sharepoint s3 bucket folder'],
  ['sync', 'sync mirror promote tenant'],
  ['memory', 'fact session memory constraint receipt'],
  ['extension', 'extension manifest wasm'],
]
const EXTERNAL_DOMAINS: readonly string[] = ['email_calendar', 'crm_customer']
const ENRICHED_DOMAINS: readonly string[] = ['code', 'file', ...EXTERNAL_DOMAINS]
const REVERSIBILITY: readonly Rule[] = [
  ['irreversible', 'delete destroy drop purge wipe charge refund send'],
  ['reversible_with_compensation', 'create update move rename deploy publish promote'],
]
const IDEMPOTENCY: readonly Rule[] = [
  ['safe', 'read get list query scan status preview'],
  ['must_not_retry', 'send charge refund delete deploy publish'],
]
const COMPENSATIONS: readonly Rule[] = [
  ['delete_or_archive', 'create add'],
  ['restore_previous_state', 'update move rename'],
  ['rollback', 'deploy publish promote'],
]
const READS = 'read get list query scan preview status'

/**
 * Tell from a tool's name what calling it can bring about.
 *
 * Only the name is looked at, by words it holds: coarse, but the same for built-in and added tools.
 */
export function consequenceOf(toolName: string): Consequence {
  const name = toolName.toLowerCase()
  const domain = firstOf(DOMAINS, name) ?? 'general'
  const materiality = materialityOf(name, domain)
  const reversibility =
    firstOf(REVERSIBILITY, name) ??
    (materiality.length > 0
      ? 'reversible_with_compensation'
      : holds(name, READS)
        ? 'reversible'
        : 'unknown')
  const needsKey =
    reversibility === 'irreversible' || reversibility === 'reversible_with_compensation'
  const compensation = firstOf(COMPENSATIONS, name)
  return {
    schema: 'crux.tool_consequence_metadata.v1',
    domain,
    reversibility,
    materiality,
    idempotency_class: firstOf(IDEMPOTENCY, name) ?? (needsKey ? 'requires_key' : 'unknown'),
    blast_radius: blastRadiusOf(name, domain, materiality),
    ...(compensation === undefined ? {} : { compensating_tool: `${toolName}.${compensation}` }),
    pro_enricher_available: ENRICHED_DOMAINS.includes(domain),
  }
}

function materialityOf(name: string, domain: string): readonly string[] {
  const found: readonly (readonly [string, boolean])[] = [
    [
      'creates_external_obligation',
      domain === 'email_calendar' || holds(name, 'send publish invite external customer-facing'),
    ],
    ['local_private_memory', domain === 'memory' || holds(name, 'private session passport')],
    [
      'touches_customer_data',
      domain === 'crm_customer' || holds(name, 'customer crm account opportunity'),
    ],
    ['touches_money', holds(name, 'money invoice refund payment billing charge credit')],
    ['touches_pii', holds(name, 'email user attendee recipient customer pii personal')],
    ['touches_production', holds(name, 'production prod deploy release live')],
  ]
  return found.flatMap(([label, applies]) => (applies ? [label] : []))
}

function blastRadiusOf(name: string, domain: string, materiality: readonly string[]): string {
  if (holds(name, 'cross_tenant global')) return 'cross_tenant'
  if (materiality.includes('creates_external_obligation') || EXTERNAL_DOMAINS.includes(domain)) {
    return 'external'
  }
  return holds(name, 'tenant team workspace project sync promote') ? 'tenant' : 'self_only'
}

function firstOf(rules: readonly Rule[], name: string): string | undefined {
  return rules.find(([, words]) => holds(name, words))?.[0]
}

function holds(name: string, words: string): boolean {
  return words.split(' ').some((word) => name.includes(word))
}
