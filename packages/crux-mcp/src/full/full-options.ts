/** What the full profile serves besides the default one. */
export interface FullProfileOptions {
  /** Publish `outputSchema` with every tool that has one, and keep every answer to it. */
  readonly outputSchemas: boolean
  /** Serve the fixed names that the official conformance suite calls. */
  readonly conformanceFixtures: boolean
  /** Secret of at least 32 bytes that marks what clients bring back as ours; one that outlives the process lets them go on after a restart. */
  readonly stateKey: Uint8Array
  /** Entries of one page of a list; default 250. */
  readonly pageSize?: number
  /** How long a question to the user may stay open, in milliseconds; default 300,000. */
  readonly questionLimitMs?: number
  /** Time between looks at resources that somebody subscribed to, in milliseconds; default 2,000. */
  readonly watchEveryMs?: number
  /** Least time between two reports of how far a call got, in milliseconds; default 200. */
  readonly progressEveryMs?: number
}
