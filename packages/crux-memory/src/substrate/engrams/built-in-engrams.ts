import type { Engram } from './engram.js'

const PLAIN = {
  query_pattern: null,
  capability_class_min: null,
  capability_class_max: null,
  generated_class: null,
  source_chunk_hashes: [],
  source_chunk_set_hash: null,
  inherited_reason: null,
  policy_hash: null,
  enabled: true,
  created_at_unix_ms: 0,
} as const

/** The engrams that come with the daemon; one of the tenant with the same name and version takes their place. */
export const BUILT_IN_ENGRAMS: readonly Engram[] = [
  {
    ...PLAIN,
    id: 'eng_local_investigate_v1',
    name: 'local-investigation-rhythm',
    version: 'v1',
    intent_bucket: 'investigation',
    applicable_why:
      'A question about how something works or why it fails, with local memory at hand.',
    content: [
      'Work in rounds, and keep each round small.',
      '1. Recall first: query_facts with two or three rare words of the question, then query for documents. Note what neither knows.',
      '2. Read only what the answer hangs on: query_expand for the best two or three passages, then the files that they name.',
      '3. Write down one explanation that could be wrong, and the cheapest look that would show it.',
      '4. Take that look. When it contradicts you, change the explanation and not the evidence.',
      '5. Stop when the next look could no longer change what you would do. Store what you found with store_fact, one fact a finding, with where it came from.',
    ].join('\n'),
  },
  {
    ...PLAIN,
    id: 'eng_route_preflight_v1',
    name: 'route-impact-preflight',
    version: 'v1',
    intent_bucket: 'developer_surface',
    applicable_why: 'A change of something that others call: a route, a tool, a command, a format.',
    content: [
      'Before you change what others call, answer these in writing:',
      '- Who calls it? Search for its name in code, tests, documents and stored facts; list what you found and where you did not look.',
      '- What do they rely on: names, types, order, error codes, defaults, timing?',
      '- Which of that changes? Adding an optional field breaks few; renaming, removing and reordering break somebody.',
      '- How will they notice: a refused call, a wrong result, or nothing at all? Nothing at all is the worst.',
      '- What is the way back, and does data written meanwhile survive it?',
      'If a caller breaks, keep the old form beside the new one, or change the caller in the same step.',
    ].join('\n'),
  },
  {
    ...PLAIN,
    id: 'eng_session_expansion_v1',
    name: 'aggregation-session-expansion',
    version: 'v1',
    intent_bucket: 'aggregation_count',
    applicable_why:
      'A question for how many, how often, in total or altogether over stored memory.',
    content: [
      'Counting needs all matches; the best ten are not enough.',
      '1. Say what counts as one: a fact, an event, a thing, a day. Two mentions of one event are one.',
      '2. Search with each word that could name it, and with a budget or top_k large enough that nothing is left out; look at left_out and at the gaps.',
      '3. Where a hit belongs to a session or a document, read the whole of it: further mentions stand beside the one that matched.',
      '4. List every item with its source and date, and strike duplicates by name.',
      '5. Then count, and give the list with the number. If something was cut or unreadable, say "at least".',
    ].join('\n'),
  },
  {
    ...PLAIN,
    id: 'eng_code_minimalism_v1',
    name: 'code-minimalism',
    version: 'v1',
    intent_bucket: 'developer_surface',
    applicable_why: 'Writing code that did not exist before.',
    content: [
      'The best new code is the code that is not needed.',
      '- Ask reuse_check, and look in the code at hand, for what does this already; a library that the project has counts.',
      '- Change what is there rather than building beside it. One way to do a thing.',
      '- Write for the case you have. No option, layer or setting that nobody asked for.',
      '- Delete what your change makes useless, in the same change.',
      '- Before you finish, read the difference once and take out every line whose absence no test and no user would notice.',
    ].join('\n'),
  },
]
