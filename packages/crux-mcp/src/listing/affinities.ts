/**
 * What each tool is used for, as far as an intent can favour it; in the order of the catalogue.
 *
 * It names tools that are not served yet, so that the lists stay the documented ones when they are.
 * Tools that stand nowhere here are shown by habit alone.
 */
export const AFFINITIES: Readonly<Record<string, readonly string[]>> = {
  retrieval: ['query', 'query_scan', 'query_expand', 'get_gaps'],
  memory: [
    'store_fact',
    'query_facts',
    'delete_fact',
    'list_entities',
    'get_bootstrap',
    'fact_history',
    'memory_acknowledge_use',
    'memory_forget',
    'memory_forget_dry_run',
    'memory_view',
    'memory_edit',
    'memory_pin',
    'memory_history',
    'memory_freshness',
    'memory_sweep_candidates',
    'memory_set_horizon',
    'memory_reverify',
    'artefact_put',
    'artefact_get',
    'artefact_list',
  ],
  session: [
    'cuecrux_session',
    'get_session',
    'save_session',
    'list_sessions',
    'delete_session',
    'archive_session',
    'unarchive_session',
    'create_handoff',
    'accept_handoff',
    'get_workspace_storyline',
    'register_repo',
    'list_repos',
  ],
  audit: [
    'list_observations',
    'get_observation',
    'verify_observation',
    'record_decision',
    'declare_constraint',
    'get_constraints',
    'check_constraints',
    'audit_config',
    'check_config_audit',
    'audit_export_bundle',
    'tool_trace_recent',
    'learn',
    'token_savings',
  ],
  proof: ['output_attest', 'receipt_verify'],
}

const AFFINITY_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(AFFINITIES).flatMap(([affinity, tools]) =>
    tools.map((tool) => [tool, affinity] as const),
  ),
)

/** What the tool is used for; undefined when no intent can favour it. */
export function affinityOf(toolName: string): string | undefined {
  return AFFINITY_OF.get(toolName)
}
