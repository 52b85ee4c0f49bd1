import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Answer,
  isOnnxRuntimeInstalled,
  sendJson,
  startEmbeddingServer,
  textsOf,
  tinyOnnxModel,
  vectorFor,
} from 'crux-retrieval/testing'
import { loadHashes } from 'crux-segment'
import { systemClock } from 'crux-types'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../config/load.js'
import { corecruxd } from '../corecruxd.js'
import { runProgram } from '../testing/run-program.js'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'
import { chooseEmbedder, type EmbedderDependencies } from './embedders.js'

const ollama: Answer = (request, response) =>
  sendJson(response, { embeddings: textsOf(request).map((text) => vectorFor(text)) })

const peer: Answer = (request, response) =>
  sendJson(response, {
    embeddings: textsOf(request).map((text) => vectorFor(text)),
    semantic_profile: {
      model: 'peer-model',
      dimensions: 7,
      tokenizer: 't',
      prompt_template_version: 'none',
      normalisation: 'none',
    },
  })

async function choose(
  env: Record<string, string>,
  more: Partial<Pick<EmbedderDependencies, 'loadModel'>> = {},
) {
  const { config } = await loadConfig({
    env: { CORECRUXD_DATA_DIR: '/nowhere', ...env },
    homeDir: '/nowhere',
    workDir: '/nowhere',
    readFile: async () => undefined,
  })
  const log: string[] = []
  const note = (fields: unknown, message?: string): void =>
    void log.push(typeof fields === 'string' ? fields : `${message} ${JSON.stringify(fields)}`)
  const embedders = await chooseEmbedder(config, {
    hashes: await loadHashes(),
    clock: systemClock,
    log: { warn: note, info: note },
    ...more,
  })
  onTestFinished(() => embedders.close())
  return { embedders, log }
}

const TOKEN = 'a-token-of-at-least-thirty-two-characters'

/** A model folder as the daemon looks for it. */
async function writeModel(dir: string): Promise<void> {
  const vocabulary = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'deploy']
  const table = vocabulary.map((_, row) => Array.from({ length: 384 }, (_, d) => Math.sin(row + d)))
  await mkdir(dir, { recursive: true })
  await writeFile(join(dir, 'model.onnx'), tinyOnnxModel(table))
  await writeFile(join(dir, 'vocab.txt'), vocabulary.join('\n'))
}

describe('chooseEmbedder', () => {
  it('lets another daemon embed before anything else, and leaves facts to words (RET-11.5-embed-delegate-first)', async () => {
    const server = await startEmbeddingServer(peer)
    const { embedders, log } = await choose({
      CORECRUXD_EMBED_DELEGATE_URL: server.url,
      CORECRUXD_EMBED_DELEGATE_TOKEN: 'secret',
      CORECRUXD_EMBED_DELEGATE_DIMENSIONS: '7',
      CORECRUXD_DENSE_MODEL: 'fastembed',
    })
    expect(embedders.status).toMatchObject({ kind: 'delegate', model: null, dims: 7 })
    expect(embedders.profile()).toBeUndefined()
    expect(embedders.facts).toBeNull()
    await embedders.documents?.embed(['a document'])
    await embedders.query?.embed(['a query'])
    expect(server.seen.map(({ authorization }) => authorization)).toEqual([
      'Bearer secret',
      'Bearer secret',
    ])
    expect(embedders.status).toMatchObject({ model: 'peer-model', dims: 7, state: 'ready' })
    expect(embedders.profile()).toMatchObject({ model: 'peer-model', dimensions: 7 })
    expect(log).toEqual([])
  })

  it('says that the other daemon is asked without a token', async () => {
    const { log } = await choose({ CORECRUXD_EMBED_DELEGATE_URL: 'http://127.0.0.1:1' })
    expect(log).toEqual([expect.stringContaining('CORECRUXD_EMBED_DELEGATE_TOKEN is not set')])
  })

  it('takes a service over HTTP next, with the dimensions of its first vector (RET-11.5-embed-url-second)', async () => {
    const server = await startEmbeddingServer(ollama)
    const { embedders } = await choose({
      CORECRUXD_EMBEDDING_URL: server.url,
      CORECRUXD_EMBEDDING_MODEL: 'some-model',
      CORECRUXD_EMBEDDING_API_KEY: 'key',
      CORECRUXD_DENSE_MODEL: 'fastembed',
    })
    expect(embedders.status).toMatchObject({ kind: 'http', model: 'some-model', dims: 0 })
    expect(embedders.profile()).toBeUndefined()
    await embedders.query?.embed(['a query'])
    expect(embedders.status).toMatchObject({ kind: 'http', model: 'some-model', dims: 7 })
    expect(embedders.profile()).toMatchObject({ model: 'some-model', dimensions: 7 })
    expect(embedders.documents?.profile.dims).toBe(7)
    expect(server.seen).toMatchObject([
      { path: '/api/embed', authorization: 'Bearer key', body: { model: 'some-model' } },
    ])
    expect(embedders.facts?.profile.id).toBe('crux-local-hash-v1')
  })

  it('hashes words when nothing is configured, for queries and facts only (RET-11.5-embed-local-third)', async () => {
    const { embedders } = await choose({})
    expect(embedders.status).toEqual({
      kind: 'local-hash',
      model: 'crux-local-hash-v1',
      dims: 256,
      state: 'ready',
      reason: 'CORECRUXD_LOCAL_EMBEDDER is on',
    })
    expect(embedders.documents).toBeNull()
    expect(embedders.query?.profile.id).toBe('crux-local-hash-v1')
    expect(embedders.profile()).not.toHaveProperty('fallback')
  })

  it('runs none when hashing is off as well (RET-11.5-embed-none)', async () => {
    const { embedders } = await choose({ CORECRUXD_LOCAL_EMBEDDER: '0' })
    expect(embedders).toMatchObject({ documents: null, query: null, facts: null })
    expect(embedders.status).toMatchObject({ kind: 'none', model: null, dims: 0, state: 'ready' })
  })

  it('tells a service that fails from one that works again, in the log once each', async () => {
    let status = 500
    const server = await startEmbeddingServer((request, response) =>
      status === 200
        ? ollama(request, response)
        : sendJson(response, { error: 'no token=abcdefghijklmnop for you' }, status),
    )
    const { embedders, log } = await choose({
      CORECRUXD_EMBEDDING_URL: server.url,
      CORECRUXD_EMBEDDING_API: 'ollama',
    })
    const ask = (): Promise<unknown> | undefined => embedders.query?.embed(['words of a query'])
    await expect(ask()).rejects.toThrow('500')
    await expect(ask()).rejects.toThrow('500')
    expect(embedders.status).toMatchObject({ state: 'failing' })
    expect(embedders.status.reason).toContain('answered 500')
    expect(embedders.warnings()).toEqual([expect.stringContaining('answered 500')])
    expect(log).toHaveLength(1)
    expect(log[0]).toContain('EMBED_REFUSED')
    status = 200
    await ask()
    expect(embedders.status).toMatchObject({ state: 'ready' })
    expect(embedders.warnings()).toEqual([])
    // A text that the service does not take, and a caller who leaves, say nothing about it.
    status = 400
    await expect(ask()).rejects.toThrow('400')
    await expect(embedders.query?.embed(['a'], AbortSignal.abort())).rejects.toThrow()
    expect(embedders.status).toMatchObject({ state: 'ready' })
    expect(log).toHaveLength(2)
    expect(log.join()).not.toContain('words of a query')
  })

  it('falls back to hashed words with the reason when the model cannot be loaded (RET-11.5-fastembed-fallback)', async () => {
    const { embedders, log } = await choose({ CORECRUXD_DENSE_MODEL: 'fastembed' })
    expect(embedders.status).toMatchObject({
      kind: 'local-hash',
      model: 'crux-local-hash-v1',
      dims: 256,
      state: 'fallback',
    })
    expect(embedders.status.reason).toContain('/nowhere/models/all-MiniLM-L6-v2')
    expect(embedders.documents).toBeNull()
    expect(embedders.profile()).toMatchObject({
      model: 'crux-local-hash-v1',
      fallback: { wanted: 'fastembed-all-minilm-l6-v2' },
    })
    expect(embedders.warnings()).toEqual([expect.stringContaining('cannot be used')])
    expect(log).toEqual(embedders.warnings())
    const none = await choose({
      CORECRUXD_DENSE_MODEL: 'fastembed',
      CORECRUXD_LOCAL_EMBEDDER: '0',
    })
    expect(none.embedders.status).toMatchObject({ kind: 'none', state: 'fallback' })
    expect(none.log[0]).toContain('no embedder runs')
  })
})

const isInstalled = await isOnnxRuntimeInstalled()

describe('a daemon with a configured embedder', () => {
  const get = async (url: string, path: string): Promise<unknown> =>
    (await fetch(`${url}${path}`)).json()

  it('does not start with two services, and names both (RET-11.5-embed-exclusive)', async () => {
    const run = await runProgram(corecruxd, [], {
      env: {
        CORECRUXD_CONFIG_PATH: '',
        CORECRUXD_DATA_DIR: await temporaryFolder(),
        CORECRUXD_EMBED_DELEGATE_URL: 'http://127.0.0.1:1',
        CORECRUXD_EMBEDDING_URL: 'http://127.0.0.1:2',
      },
    })
    expect(run.code).toBe(78)
    expect(run.stderr).toContain('CORECRUXD_EMBED_DELEGATE_URL')
    expect(run.stderr).toContain('CORECRUXD_EMBEDDING_URL')
  })

  it('never embeds a fact when another daemon embeds (RET-11.5-delegate-skips-facts)', async () => {
    const server = await startEmbeddingServer(peer)
    const { daemon } = await startTestDaemon(await temporaryFolder(), {
      CORECRUXD_EMBED_DELEGATE_URL: server.url,
      CORECRUXD_EMBED_DELEGATE_TOKEN: 'secret',
      CRUX_AGENT_TOKEN: TOKEN,
    })
    const call = async (name: string, args: Record<string, unknown>): Promise<string> => {
      const response = await fetch(daemon.mcpUrl ?? '', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          authorization: `Bearer ${TOKEN}`,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name, arguments: args },
        }),
      })
      return response.text()
    }
    for (const [topic, value] of [
      ['one', 'heliotrope facts about gardens'],
      ['two', 'nothing in common'],
    ]) {
      const entity = `__bootstrap__::pattern:${topic}`
      await call('store_fact', { entity, key: 'note', value })
    }
    await call('store_fact', { entity: 'plant', key: 'note', value: 'a heliotrope for gardens' })
    expect(await call('query_facts', { query: 'heliotrope' })).toContain('gardens')
    // Words filter: with vectors, both would be there.
    const bootstrap = await call('get_bootstrap', { topic: 'pattern', query: 'heliotrope' })
    expect(bootstrap).toContain('gardens')
    expect(bootstrap).not.toContain('nothing in common')
    expect(server.seen).toEqual([])
    expect(await get(daemon.httpUrl, '/v1/version')).toMatchObject({
      embedder: { id: null, kind: 'delegate', dimensions: null, state: 'ready' },
      features: { embeddings: true },
    })
  })

  it('starts without its model, and says so in the log, /readyz, /v1/version and answers (RET-11.5-fastembed-fallback, RET-11.5-fastembed-flag)', async () => {
    const dataDir = await temporaryFolder()
    const { daemon, log } = await startTestDaemon(dataDir, { CORECRUXD_DENSE_MODEL: 'fastembed' })
    const reason = expect.stringContaining(join(dataDir, 'models', 'all-MiniLM-L6-v2'))
    expect(await get(daemon.httpUrl, '/v1/version')).toMatchObject({
      embedder: {
        id: 'crux-local-hash-v1',
        kind: 'local-hash',
        dimensions: 256,
        state: 'fallback',
        reason,
      },
      semantic_profile: {
        model: 'crux-local-hash-v1',
        fallback: { wanted: 'fastembed-all-minilm-l6-v2', reason },
      },
    })
    expect(await get(daemon.httpUrl, '/readyz')).toMatchObject({ ok: true, warnings: [reason] })
    expect(log.filter((line) => line.includes('fastembed-all-minilm-l6-v2'))).toHaveLength(1)
    const answer = await fetch(`${daemon.httpUrl}/v1/query/text-search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ tenant_id: 'default', query: 'anything' }),
    })
    expect(await answer.json()).toMatchObject({
      meta: { local_semantic_profile: { fallback: { reason } } },
    })
  })

  const title = isInstalled ? '' : ' (left out: onnxruntime-web is not installed)'
  it.skipIf(!isInstalled)(
    `runs the model of its data directory with 384 dimensions (RET-11.5-fastembed-flag)${title}`,
    async () => {
      const dataDir = await temporaryFolder()
      await writeModel(join(dataDir, 'models', 'all-MiniLM-L6-v2'))
      const { daemon } = await startTestDaemon(dataDir, { CORECRUXD_DENSE_MODEL: 'fastembed' })
      expect(await get(daemon.httpUrl, '/v1/version')).toMatchObject({
        embedder: {
          id: 'fastembed-all-minilm-l6-v2',
          kind: 'model',
          dimensions: 384,
          state: 'ready',
          reason: 'CORECRUXD_DENSE_MODEL is fastembed',
        },
        semantic_profile: { tokenizer: 'bert_wordpiece', normalisation: 'l2' },
      })
      expect(await get(daemon.httpUrl, '/readyz')).toMatchObject({ ok: true, warnings: [] })
    },
  )
})
