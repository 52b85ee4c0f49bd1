import { entriesOf } from './entry.js'

/** Ways of working that pay off, the first ones most. */
export const PATTERNS = entriesOf('pattern', [
  [
    'mcp-init',
    'Start of a session',
    'Ask `get_bootstrap` for one topic with a `token_budget` instead of everything. Then recall what earlier sessions left: `get_session` with the id of your task, and `query_facts` with the words of the task. Only then start to work.',
  ],
  [
    'token-reduction',
    'Spend few tokens',
    'Give every call that takes it a `token_budget`: answers are then cut to what fits, best first, and _meta.crux.budget says how much was left out. Search with pointers first (`query`, 40 tokens a hit) and read only what you need (`query_expand`). Ask for an exact `entity` when you know it.',
  ],
  [
    'scan-expand',
    'Scan, then expand',
    'Call `query_scan` with a `token_budget`: it lists the passages that can be read in full within it. Hand the chunk_ref values that matter to `query_expand` as `result_ids`. A chunk_ref stays valid when documents are added; when one is reported as evicted, search again.',
  ],
  [
    'fact-memory',
    'Remember facts that can be found',
    'One fact, one `store_fact`: `entity` is what it is about, `key` which property, `value` a sentence in the words that somebody will search for, because recall matches words literally. Store the same entity and key again to correct it: recall then gives the new value, and `fact_history` both. Set `horizon_class` when a fact goes stale: volatile is a day, medium 35 days, stable a year.',
  ],
  [
    'session-state',
    'Save where you are',
    'Call `save_session` with one `session_id` a task whenever a step is done: what was decided, what is open, which files. After a restart `get_session` with the same id gives it back. Keep lasting knowledge in facts and only the state of the work in the session.',
  ],
  [
    'coverage-check',
    'Notice what the documents do not know',
    'Look at the coverage of a `query`: score is the share of your words that any document holds, missing_tokens the words that none does. When it is low, do not conclude from the hits; try other words once, then say that the documents do not cover it.',
  ],
  [
    'private-facts',
    'Keep a fact to yourself',
    'With an agent token, `store_fact` with `private` true stores a fact that only you can recall; other agents and people without your identity do not see it. Without a token the call is refused. Never store secrets: facts are kept in plain text on the disk of this machine.',
  ],
])
