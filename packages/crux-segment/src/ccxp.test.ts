import { beforeAll, describe, expect, it } from 'vitest'
import { createSemanticProfile, decodeCcxp, encodeCcxp, type SemanticProfile } from './ccxp.js'
import { type Hashes, loadHashes } from './hashes.js'
import { expectEveryCutRefused, refusalOf } from './testing/refusals.js'

let hashes: Hashes
let profile: SemanticProfile
beforeAll(async () => {
  hashes = await loadHashes()
  profile = createSemanticProfile(facts, hashes)
})

const facts = {
  model: 'größe-v1',
  dimensions: 384,
  tokenizer: 'bert_wordpiece',
  prompt_template_version: 'none',
  normalisation: 'l2',
}
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const decode = (bytes: Uint8Array) => decodeCcxp(bytes, hashes)

describe('createSemanticProfile', () => {
  it('hashes the five values, a line each, and nothing else', () => {
    const lines = Buffer.from('größe-v1\n384\nbert_wordpiece\nnone\nl2')
    const hash = Buffer.from(hashes.blake3(lines)).toString('hex')
    expect(profile.embedding_fingerprint.hash).toBe(hash)
    expect(profile.profile_id).toBe(`sp_${hash.slice(0, 24)}`)
    expect(profile.embedding_fingerprint.fingerprint_id).toBe(`efp_${hash.slice(0, 24)}`)
    expect(createSemanticProfile(facts, hashes, 'rev-2')).toEqual({ ...profile, revision: 'rev-2' })
  })
})

describe('encodeCcxp and decodeCcxp', () => {
  it('give the profile back, with and without a revision', () => {
    expect(decode(encodeCcxp(profile))).toEqual(profile)
    const revised = createSemanticProfile(facts, hashes, 'main@1')
    expect(decode(encodeCcxp(revised))).toEqual(revised)
  })

  it('write indented JSON, members in the order of the format', () => {
    const lines = text(encodeCcxp(createSemanticProfile(facts, hashes, 'r'))).split('\n')
    expect(lines[1]).toBe('  "schema": "cuecrux.semantic_profile.v1",')
    expect(lines.map((line) => /"(\w+)":/.exec(line)?.[1] ?? line.trim())).toEqual([
      '{',
      'schema',
      'profile_id',
      ...Object.keys(facts),
      'embedding_fingerprint',
      'schema',
      'fingerprint_id',
      ...Object.keys(facts),
      'hash',
      '},',
      'revision',
      '}',
    ])
  })

  it('leave out members of a later version', () => {
    expect(decode(bytesOf({ ...profile, later: { than: 'now' } }))).toEqual(profile)
  })

  it('refuse ids, hash and values that contradict each other', async () => {
    const fingerprint = profile.embedding_fingerprint
    const wrong: readonly (readonly [string, unknown])[] = [
      ['profile_id', { ...profile, profile_id: 'sp_0' }],
      [
        'embedding_fingerprint.hash',
        { ...profile, embedding_fingerprint: { ...fingerprint, hash: '' } },
      ],
      [
        'embedding_fingerprint.fingerprint_id',
        { ...profile, embedding_fingerprint: { ...fingerprint, fingerprint_id: 'efp_' } },
      ],
      [
        'embedding_fingerprint.dimensions',
        { ...profile, embedding_fingerprint: { ...fingerprint, dimensions: 385 } },
      ],
      ['profile_id', { ...profile, model: 'another' }],
    ]
    for (const [field, value] of wrong) {
      const refusal = await refusalOf(bytesOf(value), decode)
      expect(refusal, field).toMatchObject({ code: 'PROFILE_INVALID', data: { field } })
    }
  })

  it('refuse members that are missing or of another type, and point at them', async () => {
    const { model, ...rest } = profile
    expect(await refusalOf(bytesOf(rest), decode)).toMatchObject({ data: { field: 'model' } })
    const bytes = bytesOf({ ...profile, tokenizer: 7 })
    const offset = Buffer.from(bytes).indexOf('"tokenizer":7')
    expect(await refusalOf(bytes, decode)).toMatchObject({
      code: 'PROFILE_INVALID',
      data: { field: 'tokenizer', offset },
    })
    for (const value of [
      null,
      [],
      'text',
      { ...profile, schema: 'v2' },
      { ...profile, dimensions: 0.5 },
    ]) {
      expect(await refusalOf(bytesOf(value), decode)).toMatchObject({ code: 'PROFILE_INVALID' })
    }
    expect(model).toBe(facts.model)
  })

  it('refuse a file that is cut anywhere, is not UTF-8, or is far too long', async () => {
    await expectEveryCutRefused(encodeCcxp(profile), decode)
    expect(await refusalOf(Uint8Array.of(0x22, 0xff, 0x22), decode)).toMatchObject({
      code: 'INVALID_UTF8',
    })
    expect(await refusalOf(new Uint8Array(65_537).fill(0x20), decode)).toMatchObject({
      code: 'LENGTH_OUT_OF_RANGE',
    })
  })
})
