import type { JournalRecord, RecordEdit } from 'crux-storage'
import { isObject } from 'crux-types'
import type { FactProjection } from '../facts/fact-projection.js'
import { withoutWords } from './forget-ledger.js'

const STORE_START = Buffer.from('{"op":"store","fact":{"fact_id":"')
/** Starts of our own lines that may hold values besides the usual one. */
const OTHER_STARTS = ['store', 'consolidate', 'forget'].map((op) => Buffer.from(`{"op":"${op}`))
const QUOTE = 0x22

/**
 * An edit of the journal that takes the values of facts away that are forgotten for good. Each such fact
 * stays with all but its value, marked as forgotten; so does the record of a forgetting whose words
 * repeated a value, without these words.
 */
export function blankValues(projection: FactProjection): RecordEdit {
  const isGone = (id: unknown): boolean => {
    if (typeof id !== 'string') return false
    const place = projection.findFact(id, undefined)
    return place?.table.isWiped(place.row) === true
  }
  return (record) => {
    if (!mayHoldValue(record, isGone)) return record.bytes
    let line: unknown
    try {
      line = JSON.parse(Buffer.from(record.bytes).toString())
    } catch {
      // Replay skips it too, and says so.
      return record.bytes
    }
    return blankLine(line, isGone, projection) ? Buffer.from(JSON.stringify(line)) : record.bytes
  }
}

/** Whether a record has to be parsed; most need not, and a journal holds millions. */
function mayHoldValue({ key, bytes }: JournalRecord, isGone: (id: string) => boolean): boolean {
  // Lines of other programs may be laid out in any way.
  if (key === '') return true
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (startsWith(line, STORE_START)) {
    const end = line.indexOf(QUOTE, STORE_START.length)
    return isGone(line.toString('utf8', STORE_START.length, end))
  }
  return OTHER_STARTS.some((start) => startsWith(line, start))
}

/** @returns Whether anything of the line was changed. */
function blankLine(
  line: unknown,
  isGone: (id: unknown) => boolean,
  projection: FactProjection,
): boolean {
  if (!isObject(line)) return false
  let isChanged = false
  for (const fact of [
    line.fact,
    line.canonical,
    ...(Array.isArray(line.facts) ? line.facts : []),
  ]) {
    if (!isObject(fact) || !isGone(fact.fact_id) || fact.value === '') continue
    fact.value = ''
    fact.tokens = 0
    fact.forgotten = true
    isChanged = true
  }
  if (line.op === 'forget' && typeof line.receipt_id === 'string') {
    const entry = projection.forgotten.get(line.receipt_id)
    const areWordsGone = entry?.status === 'purged' && entry.reason === null
    if (entry !== undefined && areWordsGone && line.reason !== undefined) {
      delete line.reason
      line.scope = withoutWords({ scope: entry.scope }).scope
      isChanged = true
    }
  }
  return isChanged
}

function startsWith(line: Buffer, start: Buffer): boolean {
  return line.length >= start.length && start.compare(line, 0, start.length) === 0
}
