import { createPauser, type Pause } from 'crux-types'
import { readLine } from './observation.js'
import {
  HASH_PREFIX,
  hashRecord,
  hexOf,
  type RecordHash,
  type RecordSigner,
} from './sign-record.js'

/** How a record stands in the chain of its file. */
export type RecordInChain =
  | { readonly status: 'legacy' }
  | { readonly status: 'chained'; readonly seq: number }
  | { readonly status: 'broken'; readonly reason: string }
  | { readonly status: 'not_in_file' }

/** What became of the chain of a file. */
export type FileChain =
  | { readonly status: 'no_chain' }
  | { readonly status: 'ok'; readonly legacy_prefix_len: number; readonly chained_len: number }
  | { readonly status: 'broken'; readonly at_index: number; readonly reason: string }

/** What was found out about a record. */
export interface Verification {
  readonly observation_id: string
  readonly ok: boolean
  readonly hash_match: boolean
  readonly signature_valid: boolean
  readonly chain_valid: boolean
  readonly chain: { readonly record: RecordInChain; readonly file: FileChain }
  readonly recomputed_hash: string
  readonly receipt_hash: string | null
  /** The first thing that is wrong; null when nothing is. */
  readonly reason: string | null
}

const SIGNATURE_BYTES = 64

/**
 * Hold a record against its receipt, and its file against the chain.
 *
 * @param file - All lines of its file.
 */
export async function verifyRecord(
  record: Readonly<Record<string, unknown>> & { readonly observation_id: string },
  file: AsyncIterable<readonly Buffer[]>,
  by: { readonly signer: RecordSigner; readonly hashes: RecordHash },
): Promise<Verification> {
  const pause = createPauser()
  const digest = await hashRecord(record, by.hashes, pause)
  const recomputed = HASH_PREFIX + hexOf(digest)
  const { receiptHash, signature, flaw } = readReceipt(record.receipt)
  const isSame = receiptHash === recomputed
  const isSigned = signature !== undefined && by.signer.verify(digest, signature)
  const chain = await followChain(file, record.observation_id, by.hashes, pause)
  const broken = chainFlaw(chain)
  const reasons = [
    flaw,
    isSame ? undefined : 'body_hash mismatch (tampered or schema drift)',
    isSigned ? undefined : 'signature did not verify against daemon public key',
    broken,
  ]
  const reason = reasons.find((each) => each !== undefined) ?? null
  return {
    observation_id: record.observation_id,
    ok: reason === null,
    hash_match: isSame,
    signature_valid: isSigned,
    chain_valid: broken === undefined,
    chain,
    recomputed_hash: recomputed,
    receipt_hash: receiptHash ?? null,
    reason,
  }
}

function readReceipt(receipt: unknown): {
  readonly receiptHash?: string
  readonly signature?: Uint8Array
  readonly flaw?: string
} {
  if (typeof receipt !== 'object' || receipt === null) {
    return { flaw: 'record has no receipt field' }
  }
  const { body_hash, signature } = receipt as Record<string, unknown>
  const told = typeof body_hash === 'string' ? { receiptHash: body_hash } : {}
  if (typeof signature !== 'string') return { ...told, flaw: 'record has no receipt field' }
  if (!/^(?:[0-9a-f]{2})*$/i.test(signature)) {
    return { ...told, flaw: `sig hex decode: ${hexFlaw(signature)}` }
  }
  const bytes = Buffer.from(signature, 'hex')
  if (bytes.length !== SIGNATURE_BYTES) return { ...told, flaw: `sig length: ${bytes.length}` }
  return { ...told, signature: bytes }
}

function hexFlaw(text: string): string {
  const at = text.search(/[^0-9a-f]/i)
  return at < 0 ? 'an odd number of digits' : `no hex digit at ${at}`
}

function chainFlaw({ record, file }: Verification['chain']): string | undefined {
  if (record.status === 'broken') return `chain broken at this record: ${record.reason}`
  if (file.status === 'broken') {
    return `chain broken in file at index ${file.at_index}: ${file.reason}`
  }
  return record.status === 'not_in_file' ? 'the record is no longer in its file' : undefined
}

/** Follow a chain up to its first break. Each link is held against the hash of the record as it stands. */
async function followChain(
  file: AsyncIterable<readonly Buffer[]>,
  observationId: string,
  hashes: RecordHash,
  pause: Pause,
): Promise<Verification['chain']> {
  let record: RecordInChain = { status: 'not_in_file' }
  let last: { readonly seq: number; readonly hash: string } | undefined
  let legacy = 0
  let index = 0
  for await (const lines of file) {
    for (const line of lines) {
      const read = readLine(line)
      const reason = read === undefined ? 'it holds no record' : linkFlaw(read, last)
      const isTarget = read?.observation_id === observationId
      if (reason !== undefined) {
        if (isTarget) record = { status: 'broken', reason }
        return { record, file: { status: 'broken', at_index: index, reason } }
      }
      if (read !== undefined && typeof read.seq === 'number') {
        last = { seq: read.seq, hash: hexOf(await hashRecord(read, hashes, pause)) }
        if (isTarget) record = { status: 'chained', seq: read.seq }
      } else {
        legacy++
        if (isTarget) record = { status: 'legacy' }
      }
      index++
      await pause()
    }
  }
  if (last === undefined) return { record, file: { status: 'no_chain' } }
  return {
    record,
    file: { status: 'ok', legacy_prefix_len: legacy, chained_len: index - legacy },
  }
}

function linkFlaw(
  { seq, prev_hash }: Readonly<Record<string, unknown>>,
  last: { readonly seq: number; readonly hash: string } | undefined,
): string | undefined {
  if (seq === undefined || seq === null) {
    return last === undefined ? undefined : 'legacy record after chained suffix started'
  }
  const expected = last === undefined ? 0 : last.seq + 1
  if (seq !== expected) return `seq gap: expected ${expected}, found ${seq}`
  const found = prev_hash ?? undefined
  if (found === last?.hash) return undefined
  return `prev_hash mismatch at seq=${seq}: expected ${last?.hash ?? 'none'}, found ${found ?? 'none'}`
}
