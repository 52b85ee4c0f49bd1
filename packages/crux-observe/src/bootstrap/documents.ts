import { entriesOf } from './entry.js'

/** Short guides, the first ones for newcomers. */
export const DOCUMENTS = entriesOf('doc', [
  [
    'quickstart',
    'Five-Minute Quickstart',
    'Start the daemon with npm start; it prints one line when it answers. Store a fact with `store_fact` and find it with `query_facts`. Put documents in with `corecruxctl ingest` and a folder, search them with `query` and read passages with `query_expand`. Everything that was acknowledged is still there after a restart.',
  ],
  [
    'first-connect-agent',
    'First Connection of an Agent',
    'The endpoint is /mcp on port 14801 over HTTP, or the command corecruxd mcp-stdio for clients that start a program. Call tools/list: what it names works, and nothing else does. Send the agent token as bearer when the operator gave you one; it is your identity, and private facts and sessions belong to it.',
  ],
  [
    'integration-surface-selection',
    'Choosing HTTP vs MCP',
    'MCP is for agents: recall, search, sessions and private facts, with answers cut to a token budget. HTTP is for programs and scripts: facts, ingest, search, export and import, backup. Both read and write the same stores and see the same facts. `GET /v1/openapi.json` describes HTTP.',
  ],
  [
    'integration-human-assisted',
    'Human-Assisted Integration',
    "Ask the person for the address and, where agents have tokens, for one of their own: the operator adds it to CRUX_AGENT_TOKENS as name:token and restarts the daemon. Enter the endpoint or the command in the client's list of MCP servers. Then store one fact and recall it together.",
  ],
  [
    'integration-automatic',
    'Automatic Integration',
    'A client that runs corecruxd mcp-stdio --spawn needs no running daemon: one is started when none answers on this machine, and it outlives the client. Readiness for scripts: the ready line on standard output, or status 200 of `GET /readyz`.',
  ],
  [
    'platform-local-only',
    'Local-Only Mode',
    'By default both listeners are bound to this machine and no request leaves it: no model is called, search is by words, and vectors for re-ranking are computed here. Addresses outside loopback are refused unless authentication is set up.',
  ],
  [
    'api-facts',
    'Fact Store',
    'A fact is a value under an entity and a key, with a version, a confidence and an age. `store_fact` or `PUT /v1/facts` adds a version; `query_facts` or `GET /v1/facts` recalls by words; `fact_history` shows all versions; `delete_fact` or `DELETE /v1/facts/{factId}` deletes one. A value has at most 1 MiB, an entity or key 4 KiB.',
  ],
  [
    'moving-memory',
    'Export and Import',
    '`GET /v1/memory/export` gives facts as lines of JSON, `POST /v1/memory/import` takes them in; an item with the same source_id is stored once. `corecruxctl export` and `corecruxctl import` do it from the command line; import also reads the reference memory server, notes of Basic Memory, mem0 and CSV.',
  ],
  [
    'api-sessions',
    'Session Store',
    'A session is one JSON state under an id, replaced as a whole by each `save_session` and read with `get_session`; with `ttl_seconds` it expires. An agent that connects with a token has sessions of its own, which no other agent reads. Sessions are served over MCP only.',
  ],
  [
    'api-text-search',
    'Text Search',
    '`query` over MCP, `POST /v1/query/text-search` over HTTP: stemmed words, ranked by BM25. Hits are addresses; `query_expand` or `POST /v1/query/text-search/expand` gives the text. `corecruxctl ingest` cuts Markdown at headings and replaces documents that changed; `GET /v1/local/documents` lists them.',
  ],
  [
    'architecture',
    'Architecture',
    'One process owns one data directory. Every change is a record in an append-only journal that is durable before it is acknowledged; reads work on state in memory that the journal determines. Documents are immutable segment files with indexes beside them. Who sees what is decided in the stores, from the caller, for MCP and HTTP alike.',
  ],
  [
    'backup-options',
    'Backup and Rollback Options',
    '`corecruxctl backup` saves a consistent copy of everything while the daemon runs; unpacked, it is a data directory, so rolling back is starting the daemon on it. `corecruxctl export` with --all saves facts alone, with every version, in a form that other programs read.',
  ],
  [
    'upgrade-human-assisted',
    'Human-Assisted Upgrade',
    'Save a backup, stop the daemon with SIGTERM, replace the program, start it and compare `corecruxctl status` with before. A data directory that a newer version wrote is refused by name and left as it is: go back to the newer program, or start on the backup.',
  ],
  [
    'config',
    'Configuration',
    'Settings are environment variables, then a YAML file, then defaults. Used most: CORECRUXD_DATA_DIR, CORECRUXD_HTTP_PORT, CORECRUXD_MCP_PORT, CRUX_AGENT_TOKENS. A value that cannot be used refuses the start and names the variable. `GET /v1/version` says which features are on.',
  ],
])
