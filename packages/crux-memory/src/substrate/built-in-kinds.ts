import type { KindRegistration } from './kind-registry.js'

/** Kind of the entities that tell what the code at hand can do already. */
export const CAPABILITY_KIND = 'capability'

/** Kind of the entities that stand for ingested documents: the id is `<doc_id>` or `<corpus>/<doc_id>`. */
export const DOCUMENT_KIND = 'document'

const texts = { type: 'array', items: { type: 'string' } }

/** The kinds that the daemon itself makes sense of. */
export const BUILT_IN_KINDS: readonly KindRegistration[] = [
  {
    kind: CAPABILITY_KIND,
    description: 'Something that a system can do, and the files, tests and reviews behind it.',
    json_schema: {
      type: 'object',
      required: ['id', 'name', 'system', 'maturity'],
      properties: {
        id: { type: 'string' },
        name: { type: 'string' },
        system: { type: 'string' },
        maturity: {
          type: 'string',
          enum: ['planned', 'documented', 'building', 'built', 'shipped', 'deferred'],
        },
        subsystem: { type: 'string' },
        description: { type: 'string' },
        feature_flag: { type: 'string' },
        repo_id: { type: 'string' },
        files: texts,
        depends_on: texts,
        depended_by: texts,
        tests: { type: 'object' },
        audit: { type: 'object' },
        dod: { type: 'array' },
        promise_alignment: { type: 'array', items: { type: 'integer' } },
        external_deps: { type: 'array' },
      },
    },
    allowed_outgoing_edges: ['depends_on'],
    allowed_incoming_edges: ['depends_on'],
  },
  {
    kind: DOCUMENT_KIND,
    description:
      'An ingested document. Edges between documents say how they hang together; confidence in the payload of an edge, 0 to 1, says how surely.',
    json_schema: {},
    allowed_outgoing_edges: [],
    allowed_incoming_edges: [],
  },
]
