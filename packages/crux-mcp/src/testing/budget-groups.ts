/** How a tool treats `token_budget`. */
export type BudgetGroup =
  /** A call without one is refused. */
  | { readonly group: 'required'; readonly least: 0 | 1 }
  /** A call without one has this many tokens; `inSchema` when the schema says so. */
  | { readonly group: 'defaulted'; readonly tokens: number; readonly inSchema: boolean }
  /** Without one, nothing but counts bounds the answer; with one, the budget does. */
  | { readonly group: 'optional' }
  /** It says how much may be acted upon, or admitted. */
  | { readonly group: 'act' }
  /** Taken and without effect; the schema may give a default all the same. */
  | { readonly group: 'unused'; readonly tokens?: number }

/** Every tool of the published catalogue that takes `token_budget`, whether it exists here yet or not. */
export const BUDGET_GROUPS: Readonly<Record<string, BudgetGroup>> = {
  session_checkpoint: { group: 'required', least: 1 },
  execplan_gate: { group: 'required', least: 1 },
  audit_export_bundle: { group: 'required', least: 1 },
  passport_split: { group: 'required', least: 1 },
  passport_merge: { group: 'required', least: 1 },
  passport_link_device: { group: 'required', least: 1 },
  approval_request: { group: 'required', least: 0 },

  memory_view: { group: 'defaulted', tokens: 2000, inSchema: false },
  memory_freshness: { group: 'defaulted', tokens: 500, inSchema: true },
  memory_sweep_candidates: { group: 'defaulted', tokens: 500, inSchema: true },
  memory_contradictions: { group: 'defaulted', tokens: 500, inSchema: true },
  tool_trace_recent: { group: 'defaulted', tokens: 2000, inSchema: true },
  activity_recent: { group: 'defaulted', tokens: 500, inSchema: false },

  query: { group: 'optional' },
  query_scan: { group: 'optional' },
  query_expand: { group: 'optional' },
  query_facts: { group: 'optional' },
  get_bootstrap: { group: 'optional' },
  autonomy_contract: { group: 'optional' },

  memory_forget: { group: 'act' },
  memory_forget_dry_run: { group: 'act' },
  output_attest: { group: 'act' },

  artefact_put: { group: 'unused' },
  artefact_get: { group: 'unused' },
  artefact_list: { group: 'unused' },
  context_custody_audit: { group: 'unused' },
  session_token_usage: { group: 'unused', tokens: 500 },
}
