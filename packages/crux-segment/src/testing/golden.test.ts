import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openCcxf } from '../ccxf/open-ccxf.js'
import { checkCcxi } from '../ccxi/check-ccxi.js'
import { openCcxi } from '../ccxi/open-ccxi.js'
import { decodeCcxm } from '../ccxm.js'
import { createSemanticProfile, decodeCcxp } from '../ccxp.js'
import { openCcxv } from '../ccxv.js'
import { crc32c } from '../checksum.js'
import { decodeFrame, verifyFrame } from '../frame.js'
import { type Hashes, loadHashes } from '../hashes.js'
import { decodeManifest } from '../manifest/manifest.js'
import { sealReceiptId } from '../seal-receipt.js'
import { decodeSegment } from '../segment/decode-segment.js'
import { decodeHead } from '../segment/head.js'
import {
  GOLDEN_EMBEDDING,
  GOLDEN_FRAMES,
  GOLDEN_VECTORS,
  goldenFiles,
  goldenIndex,
} from './golden.js'

const FIXTURES = join(import.meta.dirname, '../../fixtures')
const read = async (name: string) => new Uint8Array(await readFile(join(FIXTURES, name)))
const texts = GOLDEN_FRAMES.map(({ payload }) => Buffer.from(payload).toString('latin1'))

let hashes: Hashes
beforeAll(async () => {
  hashes = await loadHashes()
})

describe('released bytes', () => {
  it('are those that fixed content still encodes to', async () => {
    const files = await goldenFiles(hashes)
    const names = await readdir(FIXTURES, { recursive: true, withFileTypes: true })
    const kept = names.filter((entry) => entry.isFile() && entry.name !== 'write.mjs')
    expect(kept).toHaveLength(files.size)
    for (const [name, bytes] of files) expect(await read(name), name).toEqual(bytes)
  })

  it('of a frame decode', async () => {
    const frame = decodeFrame(await read('frame/v1/frame.bin'))
    verifyFrame(frame, hashes)
    expect(frame.header).toMatchObject(GOLDEN_FRAMES[0]?.fields ?? {})
  })

  it('of a segment decode, with every check', async () => {
    const bytes = await read('ccxseg/v3/segment.ccxseg')
    const segment = await decodeSegment(bytes, hashes, { verify: 'full' })
    const payloads = [...segment.frames()].map(({ payload }) => Buffer.from(payload))
    expect(payloads.map((payload) => payload.toString('latin1'))).toEqual(texts)
    expect(Buffer.from(segment.footer.segmentId).toString('hex')).toBe(
      '01000000000000000700000000000000',
    )
    const facts = { ...segment.footer, frameCount: segment.footer.entryCount }
    expect(sealReceiptId(facts, hashes)).toMatchInlineSnapshot(
      `"b2588b4e41188eee446a9b72204a27fb0e08a2acf9a6ebe110614c26f99f3c5c"`,
    )
  })

  it('of a segment lie at the documented offsets', async () => {
    const bytes = Buffer.from(await read('ccxseg/v3/segment.ccxseg'))
    expect(bytes.toString('latin1', 0, 4)).toBe('CCS3')
    expect(bytes.readUInt32LE(4092)).toBe(crc32c(bytes.subarray(0, 4092)))
    expect(bytes.toString('latin1', 4096, 4100)).toBe('1XRC')
    const footer = bytes.subarray(-256)
    expect(footer.toString('latin1', 0, 4)).toBe('CCF3')
    expect(footer.readUInt32LE(12)).toBe(3)
    expect(footer.readUInt32LE(68)).toBe(bytes.length)
    expect(footer.readUInt32LE(88)).toBe(GOLDEN_FRAMES.length)
    const toc = bytes.subarray(footer.readUInt32LE(80), bytes.length - 256)
    expect(toc.toString('latin1', 0, 4)).toBe('TOC1')
    expect(footer.readUInt32LE(76)).toBe(toc.byteOffset - bytes.byteOffset - 4096)
    // Hashes as their definition has them, over pieces cut here.
    const records = bytes.subarray(4096, footer.readUInt32LE(80))
    const payload = Buffer.from(toc.subarray(0, 128 + 64 * GOLDEN_FRAMES.length))
    payload.fill(0, 72, 104).fill(0, 124, 128)
    const parts = [bytes.subarray(0, 4096), records, payload].map((part) => hashes.blake3(part))
    expect(footer.subarray(124, 220)).toEqual(Buffer.concat(parts))
    expect(footer.subarray(220, 252)).toEqual(Buffer.from(hashes.blake3(Buffer.concat(parts))))
    const magics = ['BLK1', 'TBO1', 'TSI1'].map((magic) => toc.indexOf(magic, 0, 'latin1'))
    expect(magics).toEqual([...magics].sort((a, b) => a - b))
    expect(magics[0]).toBe(payload.length + 4 + 4)
  })

  it('of a head decode', async () => {
    const head = await decodeHead(await read('ccxhead/v3/head.ccxhead'))
    expect(head.frames).toHaveLength(1)
  })

  it('of an index decode', async () => {
    const bytes = await read('ccxi/v2/index.ccxi')
    expect(Buffer.from(bytes).toString('latin1', 0, 4)).toBe('IXCC')
    const reader = openCcxi(bytes, hashes)
    const term = reader.find(hashes.xxh64Text('seal'))
    expect(reader.postings(term)).toEqual({
      docIds: Uint32Array.of(0, 3),
      tfs: Uint16Array.of(1, 2),
    })
    expect(reader.docTenantHash(3)).toBe(hashes.xxh64Text('tenant-b'))
  })

  it('of an index of the second analyser decode, list by list', async () => {
    const bytes = await read('ccxi/v2/analyser-2.ccxi')
    const content = goldenIndex(hashes)
    const reader = openCcxi(bytes, hashes)
    expect(reader.header.tokenizerVersion).toBe(2)
    let postings = 0
    for (const { hash, docIds, tfs } of content.terms) {
      expect(reader.postings(reader.find(hash))).toEqual({ docIds, tfs })
      postings += docIds.length
    }
    const counts = { terms: 5, postings, docs: 2000, tokenizerVersion: 2 }
    await expect(checkCcxi(bytes, hashes)).resolves.toEqual(counts)
  })

  it('of vectors decode', async () => {
    expect(openCcxv(await read('ccxv/v1/vectors.ccxv'))).toEqual({ ...GOLDEN_VECTORS, count: 2 })
  })

  it('of profiles decode', async () => {
    const profile = createSemanticProfile(GOLDEN_EMBEDDING, hashes)
    expect(decodeCcxp(await read('ccxp/v1/profile.ccxp'), hashes)).toEqual(profile)
    const revised = { ...profile, revision: 'r2' }
    expect(decodeCcxp(await read('ccxp/v1/revision.ccxp'), hashes)).toEqual(revised)
  })

  it('of a forward companion decode', async () => {
    const reader = await openCcxf(await read('ccxf/v1/forward.ccxf'), hashes)
    const words = new Uint32Array(4)
    expect(reader.readWords(0, words)).toBe(4)
    expect(Array.from(words, (n) => reader.string(n))).toEqual(['the', 'seal', 'of', 'größe'])
    expect([0, 1, 2, 3].map((doc) => reader.wordCount(doc))).toEqual([4, 0, 0, 3])
  })

  it('of a companion with metadata decode', async () => {
    const payload = decodeCcxm(await read('ccxm/v1/metadata.ccxm'))
    expect(new TextDecoder().decode(payload)).toBe('{"documents":[]}')
  })

  it('of a MANIFEST decode', async () => {
    const bytes = await read('manifest/v1/MANIFEST')
    expect(Buffer.from(bytes).toString('latin1', 0, 4)).toBe('CCMF')
    const { records, goodLength } = decodeManifest(bytes)
    expect(goodLength).toBe(bytes.length)
    expect(records.map(({ type }) => type)).toEqual([
      'add-segment',
      'add-directory-run',
      'remove-directory-run',
      'stream-meta',
      'remove-segment',
    ])
  })
})
