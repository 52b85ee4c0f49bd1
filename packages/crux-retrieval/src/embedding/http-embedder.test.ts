import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { ManualClock } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Answer,
  type EmbeddingServer,
  sendJson,
  startEmbeddingServer,
  textsOf,
  vectorFor,
} from '../testing/embedding-server.js'
import { createHttpEmbedder, type HttpEmbedderOptions } from './http-embedder.js'
import { batchesOf } from './text-batches.js'

const ollama: Answer = (request, response) =>
  sendJson(response, { embeddings: textsOf(request).map((text) => vectorFor(text)) })

const openai: Answer = (request, response) =>
  sendJson(response, {
    // Backwards: the index counts, not the place.
    data: textsOf(request)
      .map((text, index) => ({ index, embedding: vectorFor(text) }))
      .reverse(),
  })

/** Only the path of one protocol exists. */
const only =
  (path: string, answer: Answer): Answer =>
  (request, response) =>
    request.path === path
      ? answer(request, response)
      : sendJson(response, { error: 'no such path' }, 404)

const embedderOf = ({ url }: EmbeddingServer, options: Partial<HttpEmbedderOptions> = {}) =>
  createHttpEmbedder({ url, model: 'm', api: 'ollama', backoffMs: 1, ...options })

const rows = (vectors: readonly Float32Array[]): number[][] => vectors.map((one) => [...one])

describe('createHttpEmbedder', () => {
  it('asks Ollama and takes the number of dimensions from the first vector (RET-11.5-embed-url-second)', async () => {
    const server = await startEmbeddingServer(only('/api/embed', ollama))
    const embedder = embedderOf(server)
    expect(embedder.profile).toMatchObject({ id: 'm', dims: 0, normalisation: 'none' })
    expect(rows(await embedder.embed(['one', 'three']))).toEqual([
      [3, 1, 2, 3, 4, 5, 6],
      [5, 1, 2, 3, 4, 5, 6],
    ])
    expect(embedder.profile.dims).toBe(7)
    expect(server.seen[0]).toEqual({
      path: '/api/embed',
      authorization: undefined,
      body: { model: 'm', input: ['one', 'three'] },
    })
  })

  it('speaks the protocol of OpenAI with a key, and orders by index', async () => {
    const server = await startEmbeddingServer(only('/v1/embeddings', openai))
    const embedder = embedderOf(server, { api: 'openai', apiKey: 'secret' })
    expect(rows(await embedder.embed(['a', 'bb', 'ccc'])).map(([first]) => first)).toEqual([
      1, 2, 3,
    ])
    expect(server.seen[0]).toEqual({
      path: '/v1/embeddings',
      authorization: 'Bearer secret',
      body: { model: 'm', input: ['a', 'bb', 'ccc'] },
    })
  })

  it('tells the protocol from the address', async () => {
    const server = await startEmbeddingServer((request, response) =>
      (request.path.endsWith('/api/embed') ? ollama : openai)(request, response),
    )
    for (const [path, asked] of [
      ['/v1', '/v1/embeddings'],
      ['/v1/embeddings/', '/v1/embeddings'],
      ['/proxy/v1', '/proxy/v1/embeddings'],
      ['/api', '/api/embed'],
      ['/api/embed', '/api/embed'],
      ['//', '/api/embed'],
    ] as const) {
      const embedder = embedderOf(server, { url: `${server.url}${path}`, api: 'auto' })
      await embedder.embed(['a'])
      expect(server.seen.at(-1)?.path, path).toBe(asked)
      expect(embedder.api).toBe(asked.endsWith('embed') ? 'ollama' : 'openai')
    }
    await embedderOf(server, { url: `${server.url}/v1`, api: 'ollama' }).embed(['a'])
    expect(server.seen.at(-1)?.path).toBe('/api/embed')
  })

  it('finds out the protocol by asking once, and remembers it', async () => {
    const server = await startEmbeddingServer(only('/v1/embeddings', openai))
    const embedder = embedderOf(server, { api: 'auto' })
    expect(embedder.api).toBeUndefined()
    await embedder.embed(['a'])
    await embedder.embed(['b'])
    const paths = server.seen.map(({ path }) => path)
    expect(paths).toEqual(['/api/embed', '/v1/embeddings', '/v1/embeddings'])
    expect(embedder.api).toBe('openai')
  })

  it('splits by number and by bytes, keeps the order, and runs no more at once than allowed', async () => {
    let running = 0
    let most = 0
    const server = await startEmbeddingServer(async (request, response) => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running--
      await ollama(request, response)
    })
    const embedder = embedderOf(server, { batchSize: 5, batchBytes: 40, concurrency: 3 })
    const texts = Array.from({ length: 40 }, (_, i) => 'x'.repeat(1 + (i % 20)))
    texts[7] = 'y'.repeat(500)
    const vectors = await embedder.embed(texts)
    expect(vectors.map(([first]) => first)).toEqual(texts.map(({ length }) => length))
    expect(most).toBe(3)
    for (const request of server.seen) {
      const sent = textsOf(request)
      expect(sent.length).toBeLessThanOrEqual(5)
      expect(sent.length === 1 || sent.join('').length <= 40).toBe(true)
    }
    expect(server.seen.flatMap(textsOf).sort()).toEqual([...texts].sort())
  })

  it('lets a single text through between the batches of a large call', async () => {
    const server = await startEmbeddingServer(ollama)
    const embedder = embedderOf(server, { batchSize: 1, concurrency: 1 })
    const large = embedder.embed(Array.from({ length: 50 }, () => 'large'))
    await expect.poll(() => server.seen.length).toBeGreaterThan(0)
    await embedder.embed(['query'])
    expect(server.seen.length).toBeLessThan(50)
    expect(await large).toHaveLength(50)
  })

  it('sends fewer texts when vectors are long', async () => {
    const server = await startEmbeddingServer((request, response) =>
      sendJson(response, { embeddings: textsOf(request).map((text) => vectorFor(text, 8192)) }),
    )
    const embedder = embedderOf(server)
    await embedder.embed(Array.from({ length: 12 }, () => 'a'))
    expect(server.seen.map((request) => textsOf(request).length)).toEqual([4, 4, 4])
  })

  it('asks nothing for no texts, and replaces unpaired surrogates', async () => {
    const server = await startEmbeddingServer(ollama)
    expect(await embedderOf(server).embed([])).toEqual([])
    expect(server.seen).toEqual([])
    await embedderOf(server).embed(['a\ud800b'])
    expect(server.seen.flatMap(textsOf)).toEqual(['a\ufffdb'])
  })

  it('shares what it learned with the same service under other limits', async () => {
    const server = await startEmbeddingServer(only('/v1/embeddings', openai))
    const embedder = embedderOf(server, { api: 'auto' })
    const quick = embedder.withLimits({ timeoutMs: 1000, attempts: 1 })
    await quick.embed(['a'])
    expect(embedder.profile.dims).toBe(7)
    expect(embedder.api).toBe('openai')
  })

  describe('with a service that fails', () => {
    it('tries again on 500 and gives up after its attempts', async () => {
      let failures = 2
      const server = await startEmbeddingServer((request, response) =>
        failures-- > 0 ? sendJson(response, { error: 'loading' }, 500) : ollama(request, response),
      )
      expect(await embedderOf(server).embed(['a'])).toHaveLength(1)
      expect(server.seen).toHaveLength(3)
      failures = 99
      await expect(embedderOf(server).embed(['a'])).rejects.toMatchObject({
        code: 'EMBED_REFUSED',
        data: { status: 500, answer: '{"error":"loading"}' },
      })
      expect(server.seen).toHaveLength(6)
    })

    it('keeps what the service wrote out of the message, and does not try 400 again', async () => {
      const server = await startEmbeddingServer((request, response) =>
        sendJson(response, { error: `bad text: ${textsOf(request)[0]}` }, 400),
      )
      const error: unknown = await embedderOf(server)
        .embed(['private words'])
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'EMBED_REFUSED', data: { status: 400 } })
      expect(String(error)).not.toContain('private words')
      expect(server.seen).toHaveLength(1)
    })

    it('waits as long as 429 asks, and not at all when that is beyond its time', async () => {
      let limited = true
      const times: number[] = []
      const server = await startEmbeddingServer((request, response) => {
        times.push(performance.now())
        if (!limited) return ollama(request, response)
        limited = false
        return sendJson(response, {}, 429, { 'retry-after': '1' })
      })
      await embedderOf(server).embed(['a'])
      const [first = 0, second = 0] = times
      expect(second - first).toBeGreaterThanOrEqual(990)

      const clock = new ManualClock(Date.parse('2026-01-01T00:00:00Z'))
      const closed = await startEmbeddingServer((_, response) =>
        sendJson(response, {}, 429, { 'retry-after': 'Thu, 01 Jan 2026 01:00:00 GMT' }),
      )
      await expect(embedderOf(closed, { clock }).embed(['a'])).rejects.toMatchObject({
        code: 'EMBED_REFUSED',
        data: { status: 429, retryAfterMs: 3_600_000 },
      })
      expect(closed.seen).toHaveLength(1)
    })

    it('does not wait for ever for an answer, nor for the rest of one', async () => {
      for (const answer of [
        () => undefined,
        (_: unknown, response: Parameters<Answer>[1]) => void response.write('{"embeddings":['),
      ]) {
        const server = await startEmbeddingServer(answer)
        // Long enough for a request to arrive on a busy machine.
        const embedder = embedderOf(server, { timeoutMs: 300, attempts: 2 })
        await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'EMBED_TIMEOUT' })
        expect(server.seen).toHaveLength(2)
      }
    })

    it('ends at the total time, whatever attempts are left', async () => {
      const server = await startEmbeddingServer(() => undefined)
      const embedder = embedderOf(server, { timeoutMs: 50, totalMs: 120, attempts: 1000 })
      await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'EMBED_TIMEOUT' })
      expect(server.seen.length).toBeLessThanOrEqual(4)
    })

    it('stops at once when told to: in a request, in a pause, in the queue, before', async () => {
      const hanging = await startEmbeddingServer(() => undefined)
      const embedder = embedderOf(hanging, { concurrency: 1 })
      const first = new AbortController()
      const second = new AbortController()
      const running = embedder.embed(['a'], first.signal)
      const waiting = embedder.embed(['b'], second.signal)
      second.abort(new Error('stop the second'))
      await expect(waiting).rejects.toThrow('stop the second')
      first.abort(new Error('stop the first'))
      await expect(running).rejects.toThrow('stop the first')
      await expect(embedder.embed(['c'], first.signal)).rejects.toThrow('stop the first')
      expect(hanging.seen.length).toBeLessThanOrEqual(1)

      const failing = await startEmbeddingServer((_, response) => sendJson(response, {}, 503))
      const pausing = embedderOf(failing, { backoffMs: 20_000 })
      const third = new AbortController()
      const paused = pausing.embed(['d'], third.signal)
      await expect.poll(() => failing.seen.length).toBe(1)
      third.abort(new Error('stop the third'))
      await expect(paused).rejects.toThrow('stop the third')
    })

    it.each<[string, Answer, string, Record<string, unknown>]>([
      [
        'fewer vectors',
        (_, r) => sendJson(r, { embeddings: [[1, 2]] }),
        'EMBED_COUNT_MISMATCH',
        { expected: 2, got: 1 },
      ],
      [
        'lengths that differ',
        (_, r) => sendJson(r, { embeddings: [[1, 2], [1]] }),
        'EMBED_DIMENSION_MISMATCH',
        { expected: 2, got: 1, index: 1 },
      ],
      [
        'empty vectors',
        (_, r) => sendJson(r, { embeddings: [[], []] }),
        'EMBED_DIMENSION_MISMATCH',
        { got: 0 },
      ],
      [
        'null for NaN',
        (_, r) => sendJson(r, { embeddings: [[1], [null]] }),
        'EMBED_NOT_FINITE',
        { index: 1, at: 0, got: 'null' },
      ],
      [
        'a number beyond 32 bits',
        (_, r) => void r.end('{"embeddings":[[1],[1e300]]}'),
        'EMBED_NOT_FINITE',
        { index: 1 },
      ],
      [
        'words for numbers',
        (_, r) => sendJson(r, { embeddings: [['1'], ['2']] }),
        'EMBED_NOT_FINITE',
        { index: 0, got: 'string' },
      ],
      [
        'no lists',
        (_, r) => sendJson(r, { embeddings: [1, 2] }),
        'EMBED_REPLY_INVALID',
        { index: 0 },
      ],
      ['another object', (_, r) => sendJson(r, { vectors: [] }), 'EMBED_REPLY_INVALID', {}],
      ['no JSON', (_, r) => void r.end('<html>'), 'EMBED_REPLY_INVALID', { expected: 'JSON' }],
      ['nothing', (_, r) => void r.end(), 'EMBED_REPLY_INVALID', { expected: 'JSON' }],
      [
        'a huge body',
        (_, r) => void r.end(`{"embeddings":[[${'1,'.repeat(5_000_000)}1],[1]]}`),
        'EMBED_REPLY_TOO_LARGE',
        {},
      ],
      [
        'a redirect',
        (_, r) => sendJson(r, {}, 302, { location: 'http://127.0.0.1:9/' }),
        'EMBED_REFUSED',
        { status: 302 },
      ],
      ['a reset', (_, r) => void r.destroy(), 'EMBED_UNREACHABLE', {}],
    ])('refuses %s', async (_, answer, code, data) => {
      const server = await startEmbeddingServer(answer)
      const embedder = embedderOf(server, { timeoutMs: 5000 })
      await expect(embedder.embed(['a', 'b'])).rejects.toMatchObject({ code, data })
      expect(embedder.profile.dims).toBe(0)
    })

    it.each([
      ['an index twice', [0, 0]],
      ['an index left out', [0, 2]],
    ])('refuses %s', async (_, indexes) => {
      const server = await startEmbeddingServer((_request, response) =>
        sendJson(response, { data: indexes.map((index) => ({ index, embedding: [1] })) }),
      )
      await expect(embedderOf(server, { api: 'openai' }).embed(['a', 'b'])).rejects.toMatchObject({
        code: 'EMBED_REPLY_INVALID',
      })
    })

    it('refuses another length than it was told, and one that changes', async () => {
      let dims = 7
      const server = await startEmbeddingServer((request, response) =>
        sendJson(response, { embeddings: textsOf(request).map((text) => vectorFor(text, dims)) }),
      )
      await expect(embedderOf(server, { dims: 768 }).embed(['a'])).rejects.toMatchObject({
        code: 'EMBED_DIMENSION_MISMATCH',
        data: { expected: 768, got: 7 },
      })
      const embedder = embedderOf(server)
      await embedder.embed(['a'])
      dims = 8
      await expect(embedder.embed(['a'])).rejects.toMatchObject({
        code: 'EMBED_DIMENSION_MISMATCH',
        data: { expected: 7, got: 8 },
      })
      dims = 7
      expect(await embedder.embed(['a'])).toHaveLength(1)
    })

    it('leaves it alone after three failed requests, then asks once', async () => {
      let isDown = true
      const server = await startEmbeddingServer((request, response) =>
        isDown ? sendJson(response, {}, 503) : ollama(request, response),
      )
      const clock = new ManualClock(0)
      const embedder = embedderOf(server, { attempts: 1, clock })
      const refused = { code: 'EMBED_REFUSED' }
      const open = { code: 'EMBED_CIRCUIT_OPEN', data: { failures: 3, retryInMs: 30_000 } }
      for (let i = 0; i < 3; i++) await expect(embedder.embed(['a'])).rejects.toMatchObject(refused)
      await expect(embedder.embed(['a'])).rejects.toMatchObject(open)
      expect(server.seen).toHaveLength(3)
      clock.advance(30_000)
      isDown = false
      expect(await embedder.embed(['a'])).toHaveLength(1)
      expect(await embedder.embed(['a'])).toHaveLength(1)
      expect(server.seen).toHaveLength(5)
    })

    it('does not hold a text that the service refuses against the service', async () => {
      const server = await startEmbeddingServer((request, response) =>
        textsOf(request)[0] === '' ? sendJson(response, {}, 400) : ollama(request, response),
      )
      const embedder = embedderOf(server)
      for (let i = 0; i < 4; i++) {
        await expect(embedder.embed([''])).rejects.toMatchObject({ code: 'EMBED_REFUSED' })
      }
      expect(await embedder.embed(['a'])).toHaveLength(1)
    })

    it('says that nothing listens', async () => {
      // A port that was just free.
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      server.close()
      await once(server, 'close')
      const embedder = embedderOf({ url: `http://127.0.0.1:${port}`, seen: [] })
      await expect(embedder.embed(['a'])).rejects.toMatchObject({
        code: 'EMBED_UNREACHABLE',
        message: expect.stringContaining('ECONNREFUSED'),
      })
    })
  })

  it.each(['localhost:11434', 'ftp://host', 'http://user:pass@host', 'http://host/?key=1', ''])(
    'refuses the address %j without showing credentials',
    (url) => {
      expect(() => createHttpEmbedder({ url, model: 'm' })).toThrow(
        expect.objectContaining({
          code: 'EMBED_URL_INVALID',
          message: expect.not.stringContaining('pass@'),
        }),
      )
    },
  )

  it('refuses limits that are none', () => {
    const url = 'http://127.0.0.1:9'
    expect(() => createHttpEmbedder({ url, model: 'm', dims: -1 })).toThrow(RangeError)
    expect(() => createHttpEmbedder({ url, model: 'm', attempts: 0 })).toThrow(RangeError)
  })
})

describe('batchesOf', () => {
  it('covers all texts in order, within the limits where single texts are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 12 })),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 30 }),
        fc.nat({ max: 3 }),
        (texts, maxTexts, maxBytes, start) => {
          let next = start
          for (const { from, to } of batchesOf(texts, maxTexts, maxBytes, start)) {
            expect(from).toBe(next)
            expect(to).toBeGreaterThan(from)
            expect(to - from).toBeLessThanOrEqual(maxTexts)
            const bytes = Buffer.byteLength(texts.slice(from, to).join(''))
            expect(to - from === 1 || bytes <= maxBytes).toBe(true)
            next = to
          }
          expect(next).toBe(Math.max(start, texts.length))
        },
      ),
    )
  })
})
