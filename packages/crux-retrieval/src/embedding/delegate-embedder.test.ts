import { ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import {
  type Answer,
  type EmbeddingServer,
  sendJson,
  startEmbeddingServer,
  textsOf,
  vectorFor,
} from '../testing/embedding-server.js'
import {
  createDelegateEmbedder,
  DELEGATE_MAX_CALL_BYTES,
  DELEGATE_MAX_TEXT_BYTES,
  type DelegateEmbedderOptions,
} from './delegate-embedder.js'

const profile = {
  schema: 'cuecrux.semantic_profile.v1',
  profile_id: 'sp_1',
  model: 'peer-model',
  dimensions: 7,
  tokenizer: 'model_default',
  prompt_template_version: 'none',
  normalisation: 'l2',
}

const peer: Answer = (request, response) =>
  sendJson(response, {
    embeddings: textsOf(request).map((text) => vectorFor(text)),
    semantic_profile: profile,
  })

const embedderOf = ({ url }: EmbeddingServer, options: Partial<DelegateEmbedderOptions> = {}) =>
  createDelegateEmbedder({ url, token: 'secret', backoffMs: 1, ...options })

describe('createDelegateEmbedder', () => {
  it('asks the other daemon with a bearer, and holds it to its first profile (RET-11.5-embed-delegate-first)', async () => {
    const server = await startEmbeddingServer(peer)
    const embedder = embedderOf(server, { dims: 7 })
    expect(embedder.profile).toMatchObject({ id: 'delegated', dims: 0 })
    const vectors = await embedder.embed(['one', 'three'])
    expect(vectors.map(([first]) => first)).toEqual([3, 5])
    expect({ ...embedder.profile }).toEqual({
      id: 'peer-model',
      revision: 'unstated',
      dims: 7,
      tokenizer: 'model_default',
      promptTemplate: 'none',
      normalisation: 'l2',
    })
    await embedder.embed(['two'])
    expect(server.seen).toEqual([
      {
        path: '/v1/compute/embed',
        authorization: 'Bearer secret',
        body: { texts: ['one', 'three'] },
      },
      {
        path: '/v1/compute/embed',
        authorization: 'Bearer secret',
        body: { texts: ['two'], semantic_profile: profile },
      },
    ])
  })

  it('splits into calls that the other side takes, and refuses what it never takes', async () => {
    const server = await startEmbeddingServer(peer)
    const embedder = embedderOf(server)
    const texts = Array.from({ length: 150 }, (_, i) => 'x'.repeat(i + 1))
    texts.push(...Array.from({ length: 9 }, () => 'y'.repeat(DELEGATE_MAX_TEXT_BYTES)))
    const vectors = await embedder.embed(texts)
    expect(vectors.map(([first]) => first)).toEqual(texts.map(({ length }) => length))
    for (const request of server.seen) {
      const sent = textsOf(request)
      expect(sent.length).toBeLessThanOrEqual(64)
      expect(sent.join('').length).toBeLessThanOrEqual(DELEGATE_MAX_CALL_BYTES)
    }
    const calls = server.seen.length
    const tooLarge = 'é'.repeat(DELEGATE_MAX_TEXT_BYTES / 2 + 1)
    await expect(embedder.embed(['a', tooLarge])).rejects.toMatchObject({
      code: 'EMBED_TEXT_TOO_LARGE',
      data: { index: 1, bytes: DELEGATE_MAX_TEXT_BYTES + 2 },
    })
    expect(server.seen).toHaveLength(calls)
  })

  it('refuses another profile: from the start, later, and when the other side says so', async () => {
    let model = 'peer-model'
    const server = await startEmbeddingServer((request, response) =>
      sendJson(response, {
        embeddings: textsOf(request).map((text) => vectorFor(text)),
        semantic_profile: { ...profile, model },
      }),
    )
    const mismatch = { code: 'EMBED_PROFILE_MISMATCH' }
    await expect(embedderOf(server, { dims: 384 }).embed(['a'])).rejects.toMatchObject(mismatch)
    const embedder = embedderOf(server)
    await embedder.embed(['a'])
    model = 'other-model'
    for (let i = 0; i < 4; i++) {
      await expect(embedder.embed(['a'])).rejects.toMatchObject(mismatch)
    }
    model = 'peer-model'
    expect(await embedder.embed(['a'])).toHaveLength(1)

    const conflicting = await startEmbeddingServer((_, response) =>
      sendJson(response, { code: 'SEMANTIC_PROFILE_MISMATCH' }, 409),
    )
    await expect(embedderOf(conflicting).embed(['a'])).rejects.toMatchObject(mismatch)
    expect(conflicting.seen).toHaveLength(1)
  })

  it('tries three times, leaves the other side alone after three failed calls, then probes once', async () => {
    let isDown = true
    const server = await startEmbeddingServer((request, response) =>
      isDown ? sendJson(response, {}, 503) : peer(request, response),
    )
    const clock = new ManualClock(0)
    const embedder = embedderOf(server, { clock })
    const open = { code: 'EMBED_CIRCUIT_OPEN' }
    for (let i = 0; i < 3; i++) {
      await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'EMBED_REFUSED' })
    }
    expect(server.seen).toHaveLength(9)
    clock.advance(29_999)
    await expect(embedder.embed(['a'])).rejects.toMatchObject(open)
    clock.advance(1)
    const [probe, beside] = await Promise.allSettled([embedder.embed(['a']), embedder.embed(['b'])])
    expect(probe).toMatchObject({ status: 'rejected', reason: { code: 'EMBED_REFUSED' } })
    expect(beside).toMatchObject({ status: 'rejected', reason: open })
    // The probe failed: another 30 s.
    await expect(embedder.embed(['a'])).rejects.toMatchObject(open)
    clock.advance(30_000)
    isDown = false
    expect(await embedder.embed(['a'])).toHaveLength(1)
    expect(await embedder.embed(['a', 'b'])).toHaveLength(2)
  })

  it('gives up on a call that hangs, and at once when told to', async () => {
    const server = await startEmbeddingServer(() => undefined)
    await expect(embedderOf(server, { timeoutMs: 20 }).embed(['a'])).rejects.toMatchObject({
      code: 'EMBED_TIMEOUT',
    })
    expect(server.seen).toHaveLength(3)
    const stopping = new AbortController()
    const running = embedderOf(server).embed(['a'], stopping.signal)
    stopping.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
  })

  it.each<[string, unknown, string]>([
    ['no profile', { embeddings: [[1]] }, 'EMBED_REPLY_INVALID'],
    ['fewer vectors', { embeddings: [], semantic_profile: profile }, 'EMBED_COUNT_MISMATCH'],
    [
      'a vector that is not the profile’s',
      { embeddings: [[1, 2]], semantic_profile: profile },
      'EMBED_DIMENSION_MISMATCH',
    ],
    [
      'null for NaN',
      { embeddings: [[1, 2, 3, null, 5, 6, 7]], semantic_profile: profile },
      'EMBED_NOT_FINITE',
    ],
  ])('refuses %s', async (_, reply, code) => {
    const server = await startEmbeddingServer((_request, response) => sendJson(response, reply))
    const embedder = embedderOf(server)
    await expect(embedder.embed(['a'])).rejects.toMatchObject({ code })
    expect(embedder.profile.dims).toBe(0)
  })
})
