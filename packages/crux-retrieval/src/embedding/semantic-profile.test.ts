import { blake3 } from '@noble/hashes/blake3.js'
import { loadHashes } from 'crux-segment'
import { describe, expect, it } from 'vitest'
import { createLocalHashEmbedder } from './local-hash-embedder.js'
import { semanticProfile } from './semantic-profile.js'

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
