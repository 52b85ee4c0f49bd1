/** Form of an answer: the enveloped contract, or the shape that was there before it. */
export type Contract = 'crc-v1' | 'legacy'

/** What a tool's envelope describes. */
export type CrcKind = 'search' | 'addressed' | 'fact'

/** Where the contract's schema is published. */
export const CRC_SCHEMA_URL = 'https://cuecrux.com/contracts/crc-v1.schema.json'

/** Where a person can look at facts. */
export const CONSOLE_FACTS_URL = 'https://crux.cuecrux.com/console#/facts'

const OPT_OUTS: readonly string[] = ['legacy', 'v0', 'none', 'off']

/** Values of `contract` that select the earlier shape, and the rule, for documentation. */
export const CRC_WHEN =
  'by default; the argument contract with the value legacy, v0, none or off selects the earlier shape'

/** The contract that the arguments of a call ask for. */
export function negotiateContract(argument: unknown): Contract {
  return typeof argument === 'string' && OPT_OUTS.includes(argument.trim().toLowerCase())
    ? 'legacy'
    : 'crc-v1'
}

/** What `tools/list` says about a tool's envelope. */
export function advertiseContract(kind: CrcKind): Record<string, string> {
  return { $ref: CRC_SCHEMA_URL, contract: 'crc-v1', kind, when: CRC_WHEN }
}

/** The bootstrap entries that describe the contract: one for the contract, one per tool. */
export function contractEntries(
  tools: readonly { readonly name: string; readonly crc?: CrcKind }[],
): { readonly entity: string; readonly key: string; readonly value: string }[] {
  const entry = (name: string, key: string, value: object) => ({
    entity: `__bootstrap__::tool-output:${name}`,
    key,
    value: JSON.stringify(value),
  })
  return [
    entry('_contract', 'crc-v1', {
      schema: CRC_SCHEMA_URL,
      negotiate: 'argument contract: legacy, v0, none or off selects the earlier shape',
      envelope:
        'contract, kind, hydrate_tier, pointers, content (facts, and query_expand with text), cost_estimate, agent_decision, envelope, next, meta',
      default_when_negotiated: true,
    }),
    ...tools.flatMap(({ name, crc }) =>
      crc === undefined
        ? []
        : [entry(name, name, { contract: 'crc-v1', kind: crc, schema: CRC_SCHEMA_URL })],
    ),
  ]
}
