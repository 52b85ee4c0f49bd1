import { type BootstrapEntry, entriesOf } from './entry.js'

/** What is told of a tool. */
export interface DescribedTool {
  readonly name: string
  /** One sentence on the form of its answer. */
  readonly outputDoc: string
}

/** Tools that agents call most; the others are described when somebody asks for the topic. */
const MAIN_TOOLS: readonly string[] = [
  ...['query_facts', 'store_fact', 'query', 'query_scan', 'query_expand'],
  ...['get_session', 'save_session', 'list_sessions', 'delete_session'],
  ...['fact_history', 'delete_fact', 'list_entities', 'get_gaps', 'get_bootstrap'],
  ...['get_agent_identity', 'create_handoff', 'accept_handoff', 'record_decision'],
  ...['sync_pull', 'sync_push', 'sync_status', 'update_status'],
]

/** The answers of those main tools that exist. */
export function toolOutputs(tools: readonly DescribedTool[]): readonly BootstrapEntry[] {
  return MAIN_TOOLS.flatMap((name) => {
    const tool = tools.find((one) => one.name === name)
    return tool === undefined
      ? []
      : entriesOf('tool-output', [[name, `${name} output schema`, tool.outputDoc]])
  })
}
