import { entriesOf } from './entry.js'

/** What to do about what goes wrong. */
export const RESOLUTIONS = entriesOf('resolution', [
  [
    'InvalidParams',
    'Error -32602: the arguments are wrong',
    'The message names the argument, what was expected and what came. Correct that argument and call again; the same call gives the same error. Arguments that no tool reads are no error: they are named in _meta.crux.ignored_arguments.',
  ],
  [
    'TenantMismatch',
    'tenant_mismatch: the documents belong to another tenant',
    'The call names a `tenant_id` that you may not read, or a passage of another tenant. Use the tenant that was named when the documents were put in, and never guess one.',
  ],
  [
    'LowCoverage',
    'Few or no hits',
    'For documents: look at missing_tokens of `query` and ask again without those words. For facts: `query_facts` matches words literally, so try a stem or `list_entities` and an exact `entity`; a value that was replaced is shown with `include_superseded`. When nothing comes, it is not stored: say so.',
  ],
  [
    'FactInvisible',
    'A fact was stored and is not recalled',
    'Look at _meta.crux.warning of the answer to `store_fact`. Entities that start with a reserved name, such as decisions:: or a name in double underscores, are private to the daemon unless the operator shares them with CORECRUXD_SHARE_PREFIXES_OVERRIDE. Choose another entity.',
  ],
  [
    'SessionNotFound',
    'A session is not there',
    '`get_session` answers with a sentence when the id is unknown to you, and when the time to live of a saved session is over. `list_sessions` names those that you can read. Sessions that an agent saves with its token are its own: connect with the same token.',
  ],
  [
    'Timeout',
    'A call took too long',
    'A call is given up after 30 seconds; a write may still take effect, so look before you repeat it. Narrow the call: a `token_budget`, a smaller `limit`, fewer `result_ids`.',
  ],
  [
    'Backpressure',
    'HTTP 429 or 503: busy',
    'Wait for the seconds that the Retry-After header names, then send again. 503 without that header means that the daemon cannot, not that it is busy: `GET /readyz` says why.',
  ],
  [
    'IoWriteFailed',
    'IO_WRITE_FAILED, or journal append failed',
    'The disk took no write, and nothing of the call was stored. Reads go on. The operator has to make room or mend the disk and restart the daemon; `GET /readyz` names what is wrong.',
  ],
  [
    'SegmentCorrupt',
    'SEGMENT_CORRUPT: a document file is damaged',
    'A file of documents no longer matches its checksum, so it is not read. The operator restores it from a backup, or puts the documents in again with `corecruxctl ingest`.',
  ],
  [
    'MissingScope',
    'HTTP 401 or 403',
    'UNAUTHENTICATED asks for a bearer token. MISSING_SCOPE names the scopes of which the token lacks any: reading asks for query:read, writing facts for facts:write, documents and backups for admin:write or admin:read.',
  ],
  [
    'Internal',
    'Error -32603 or HTTP 500: a fault of the daemon',
    "It is not your call's fault and its text tells nothing more. Try once again; when it stays, tell the operator the time and, over HTTP, the x-request-id: the log names the cause.",
  ],
])
