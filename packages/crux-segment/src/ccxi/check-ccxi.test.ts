import { beforeAll, describe, expect, it } from 'vitest'
import { type Hashes, loadHashes } from '../hashes.js'
import { viewOf } from '../little-endian.js'
import { expectEveryCutRefused, refusalOf } from '../testing/refusals.js'
import { checkCcxi } from './check-ccxi.js'
import { type CcxiContent, encodeCcxi } from './encode-ccxi.js'

let hashes: Hashes
beforeAll(async () => {
  hashes = await loadHashes()
})

const docs = Array.from({ length: 300 }, (_, i) =>
  i % 7 === 6 ? undefined : { frameOffset: 4096 + i, lengthTokens: 5, tenantHash: 0xabcdefn },
)
const indexed = Uint32Array.from(docs.flatMap((doc, i) => (doc === undefined ? [] : [i])))

const sound: CcxiContent = {
  shardId: 0,
  segmentSeq: 1,
  epoch: 1,
  tokenizerVersion: 2,
  terms: [
    { hash: 3n, docIds: indexed, tfs: new Uint16Array(indexed.length).fill(2) },
    { hash: 4n, docIds: Uint32Array.of(0), tfs: Uint16Array.of(1) },
  ],
  docs,
}

const vocabEnd = 256 + 2 * 16

/** The index after a change that its hashes do not tell. */
function changed(change: (bytes: Uint8Array, view: DataView, docsStart: number) => void) {
  const bytes = encodeCcxi(sound, hashes)
  const docsStart = bytes.length - 64 - docs.length * 16
  change(bytes, viewOf(bytes), docsStart)
  bytes.set(hashes.blake3(bytes.subarray(256, vocabEnd)), bytes.length - 64)
  bytes.set(hashes.blake3(bytes.subarray(vocabEnd, docsStart)), bytes.length - 32)
  return bytes
}

/** Where the list of the second term starts. */
const lastList = () => vocabEnd + viewOf(encodeCcxi(sound, hashes)).getUint32(256 + 24, true)

const check = (bytes: Uint8Array) => checkCcxi(bytes, hashes)

describe('checkCcxi', () => {
  it('counts what a sound index holds, and pauses', async () => {
    let pauses = 0
    const counted = await checkCcxi(encodeCcxi(sound, hashes), hashes, () => {
      pauses++
      return undefined
    })
    const postings = indexed.length + 1
    expect(counted).toEqual({ terms: 2, postings, docs: indexed.length, tokenizerVersion: 2 })
    const many = Array.from({ length: 9000 }, (_, i) => ({
      hash: BigInt(i),
      docIds: Uint32Array.of(0),
      tfs: Uint16Array.of(1),
    }))
    await checkCcxi(encodeCcxi({ ...sound, terms: many }, hashes), hashes, () => {
      pauses++
      return undefined
    })
    expect(pauses).toBeGreaterThanOrEqual(2)
  })

  it('refuses a file that is cut anywhere', async () => {
    await expectEveryCutRefused(
      encodeCcxi({ ...sound, docs: docs.slice(0, 1), terms: [] }, hashes),
      check,
    )
  })

  it('finds what hashes do not tell, and says where', async () => {
    const faults: readonly (readonly [string, number, Uint8Array])[] = [
      ['token_hash', 256 + 16, changed((_, view) => view.setBigUint64(256, 4n, true))],
      ['total_postings', 30, changed((_, view) => view.setUint32(30, 7, true))],
      ['postings_len', 256 + 24, changed((_, view) => view.setUint32(256 + 28, 2 ** 31, true))],
      ['count', lastList(), changed((_, view) => view.setUint32(256 + 28, 0, true))],
      // Document 1, which the first term names, loses its entry.
      ['doc_id', vocabEnd, changed((bytes, _, at) => bytes.fill(0, at + 16, at + 32))],
      // Differences of the first block: all ids are 0.
      ['doc_id', vocabEnd, changed((bytes) => bytes.fill(0, vocabEnd + 7, vocabEnd + 9))],
      ['tf', lastList(), changed((bytes) => bytes.fill(0, lastList() + 12, lastList() + 14))],
    ]
    for (const [field, offset, bytes] of faults) {
      expect(await refusalOf(bytes, check), field).toMatchObject({
        code: 'LENGTH_OUT_OF_RANGE',
        data: { field, offset },
      })
    }
    const twoOwners = changed((_, view, at) => view.setUint16(at + 6, 1, true))
    expect(await refusalOf(twoOwners, check)).toMatchObject({ data: { field: 'tenant_hash' } })
  })

  it('takes frequencies as 1 when their count disagrees, as every reader does', async () => {
    const bytes = changed((_, view) =>
      view.setUint32(vocabEnd + view.getUint32(280, true) + 8, 9, true),
    )
    await expect(check(bytes)).resolves.toMatchObject({ terms: 2 })
  })
})
