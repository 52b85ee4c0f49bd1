import { advertiseContract, type CrcKind } from '../result/crc-v1.js'
import type { Tool } from '../tools/define-tool.js'
import { consequenceOf } from './consequence.js'
import type { TokenStamp } from './tool-capability.js'

/** Where the work of a tool is done: here, or on the hosted platform. */
export type Marker = '[local]' | '[hosted]'

/** One tool as `tools/list` shows it. */
export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly _meta: { readonly crux: Readonly<Record<string, unknown>> }
  readonly 'x-crux-output-schema'?: Readonly<Record<string, string>>
}

/** What the entry of a tool is made of, whoever brings the tool. */
export interface ListableTool {
  readonly name: string
  /** Starts with the marker. */
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly crc?: CrcKind
}

/**
 * What the entry of a built-in tool is made of.
 *
 * @param tip - A further sentence of the description.
 */
export function listableTool(
  { name, description, inputSchema, crc }: Pick<Tool, keyof ListableTool & keyof Tool>,
  marker: Marker = '[local]',
  tip?: string,
): ListableTool {
  return {
    name,
    description: `${marker} ${description}${tip === undefined ? '' : ` ${tip}`}`,
    inputSchema: { ...inputSchema },
    ...(crc === undefined ? {} : { crc }),
  }
}

/**
 * The entry of a tool.
 *
 * @param stamp - Of the token that the list was made for.
 */
export function listedTool(tool: ListableTool, stamp?: TokenStamp): ListedTool {
  const { name, description, inputSchema, crc } = tool
  return {
    name,
    description,
    inputSchema:
      stamp === undefined
        ? inputSchema
        : {
            ...inputSchema,
            'x-crux-token-ref': tokenRef(stamp),
            'x-crux-receipt-class': stamp.receiptClass,
            'x-crux-tier': stamp.tier,
          },
    _meta: {
      crux: {
        consequence_metadata: consequenceOf(name),
        ...(stamp === undefined ? {} : stampMeta(stamp)),
        ...(description.startsWith('[hosted]') ? { upgrade: upgradeHint(name) } : {}),
      },
    },
    ...(crc === undefined ? {} : { 'x-crux-output-schema': advertiseContract(crc) }),
  }
}

/** Which token a list or an entry was made for. */
export function stampMeta(stamp: TokenStamp): Readonly<Record<string, unknown>> {
  return {
    filtered_by: 'rcx-capability-token',
    token_ref: tokenRef(stamp),
    receipt_class: stamp.receiptClass,
    tier: stamp.tier,
  }
}

function tokenRef({ tokenId, tokenHash }: TokenStamp): Readonly<Record<string, string>> {
  return { token_id: tokenId, token_hash: tokenHash }
}

function upgradeHint(tool: string): Readonly<Record<string, unknown>> {
  return {
    platform_available: true,
    requires: 'rcx_capability_token',
    docs: `https://crux.cuecrux.com/docs/platform/${tool}`,
  }
}
