import { blake3 } from '@noble/hashes/blake3.js'
import { loadHashes } from 'crux-segment'
import { describe, expect, it } from 'vitest'
import { createLocalHashEmbedder } from './local-hash-embedder.js'
import { isSameSpace, semanticProfile } from './semantic-profile.js'

describe('semanticProfile', () => {
  it('describes the local hash embedder (RET-11.5-hash-identity)', async () => {
    const profile = semanticProfile(createLocalHashEmbedder(), await loadHashes())
    const hash = Buffer.from(
      blake3(Buffer.from('crux-local-hash-v1\n256\nwhitespace_ngram_v1\nnone\nl2')),
    ).toString('hex')
    expect(profile).toEqual({
      schema: 'cuecrux.semantic_profile.v1',
      profile_id: `sp_${hash.slice(0, 24)}`,
      model: 'crux-local-hash-v1',
      dimensions: 256,
      tokenizer: 'whitespace_ngram_v1',
      prompt_template_version: 'none',
      normalisation: 'l2',
      embedding_fingerprint: {
        schema: 'cuecrux.embedding_fingerprint.v1',
        fingerprint_id: `efp_${hash.slice(0, 24)}`,
        model: 'crux-local-hash-v1',
        dimensions: 256,
        tokenizer: 'whitespace_ngram_v1',
        prompt_template_version: 'none',
        normalisation: 'l2',
        hash,
      },
      revision: '1',
    })
  })

  it('takes the defaults of a model that says nothing about itself', async () => {
    const profile = semanticProfile(
      { profile: { id: 'some-model', revision: '1', dims: 7 } },
      await loadHashes(),
    )
    expect(profile).toMatchObject({
      dimensions: 7,
      tokenizer: 'model_default',
      prompt_template_version: 'none',
      normalisation: 'none',
    })
  })
})

describe('isSameSpace', () => {
  it('compares what decides about vectors, and revisions where both are known', async () => {
    const hashes = await loadHashes()
    const of = (id: string, revision: string, dims = 7) =>
      semanticProfile({ profile: { id, revision, dims } }, hashes)
    expect(isSameSpace(of('a', '1'), of('a', '1'))).toBe(true)
    expect(isSameSpace(of('a', '1'), of('a', '2'))).toBe(false)
    expect(isSameSpace(of('a', '1'), of('a', 'unstated'))).toBe(true)
    expect(isSameSpace(of('a', '1'), of('b', '1'))).toBe(false)
    expect(isSameSpace(of('a', '1'), of('a', '1', 8))).toBe(false)
    expect(of('a', 'unstated')).not.toHaveProperty('revision')
  })
})
