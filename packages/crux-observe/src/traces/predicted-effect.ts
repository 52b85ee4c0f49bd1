/** What a call is expected to do, told from the tool's name alone. */
export type EffectKind = 'fact_write' | 'forget' | 'receipt_emit' | 'fact_read' | 'tool_dispatch'

/** One expected effect, with the entity and key that the arguments name; empty when they name none. */
export interface PredictedEffect {
  readonly kind: EffectKind
  readonly entity: string
  readonly key: string
}

const TOOLS_BY_KIND: Readonly<Record<Exclude<EffectKind, 'tool_dispatch'>, readonly string[]>> = {
  fact_write: [
    'store_fact',
    'entity_upsert',
    'edge_upsert',
    'save_session',
    'archive_session',
    'unarchive_session',
  ],
  forget: [
    'delete_fact',
    'entity_delete',
    'edge_delete',
    'delete_session',
    'memory_forget',
    'memory_forget_dry_run',
  ],
  receipt_emit: ['memory_acknowledge_use', 'create_handoff', 'accept_handoff', 'record_decision'],
  fact_read: ['query_facts', 'query', 'query_scan', 'query_expand', 'fact_history'],
}

const KINDS: ReadonlyMap<string, EffectKind> = new Map(
  Object.entries(TOOLS_BY_KIND).flatMap(([kind, tools]) =>
    // The keys of the table are kinds, by its own type.
    tools.map((tool) => [tool, kind as EffectKind]),
  ),
)

/** What calling this tool is expected to do. */
export function effectKindOf(tool: string): EffectKind {
  return KINDS.get(tool) ?? 'tool_dispatch'
}

/** The one effect that is expected of a call. */
export function predictEffect(
  tool: string,
  args: Readonly<Record<string, unknown>>,
): PredictedEffect {
  return { kind: effectKindOf(tool), entity: textOf(args.entity), key: textOf(args.key) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
