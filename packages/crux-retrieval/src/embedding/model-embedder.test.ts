import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { isOnnxRuntimeInstalled } from '../testing/onnx-runtime.js'
import { type Table, tinyOnnxModel } from '../testing/tiny-onnx-model.js'
import {
  loadModelEmbedder,
  type ModelEmbedder,
  type ModelEmbedderOptions,
} from './model-embedder.js'

const VOCABULARY = '[PAD] [UNK] [CLS] [SEP] deploy the service un ##able ##s cafe'.split(' ')
const DIMS = 384

/** Row of a word piece: different for each, and far away for padding, which must not count. */
const row = (piece: number): number[] =>
  Array.from({ length: DIMS }, (_, d) =>
    piece === 0 ? 1000 : Math.sin(piece * 7 + d) + (d === piece ? 3 : 0),
  )
const TABLE: Table = VOCABULARY.map((_, piece) => row(piece))

/** What the model has to give for these word pieces, the end marks put around. */
function expected(...pieces: readonly string[]): number[] {
  const rows = ['[CLS]', ...pieces, '[SEP]'].map((piece) => row(VOCABULARY.indexOf(piece)))
  const mean = Array.from(
    { length: DIMS },
    (_, d) => rows.reduce((sum, values) => sum + (values[d] ?? 0), 0) / rows.length,
  )
  const norm = Math.hypot(...mean)
  return mean.map((value) => value / norm)
}

async function modelFolder(table: Table = TABLE, path = 'model.onnx'): Promise<string> {
  const dir = await writeModel(table, path)
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  return dir
}

async function writeModel(table: Table = TABLE, path = 'model.onnx'): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'crux-model-'))
  await mkdir(join(dir, 'onnx'))
  await writeFile(join(dir, path), tinyOnnxModel(table))
  await writeFile(join(dir, 'vocab.txt'), `${VOCABULARY.join('\n')}\n`)
  return dir
}

async function load(dir: string, options: Partial<ModelEmbedderOptions> = {}) {
  const embedder = await loadModelEmbedder({ dir, ...options })
  onTestFinished(() => embedder.close())
  return embedder
}

function expectNear(vector: Float32Array | undefined, wanted: readonly number[]): void {
  expect(vector).toHaveLength(wanted.length)
  for (const [d, value] of wanted.entries()) expect(vector?.[d]).toBeCloseTo(value, 5)
}

const isInstalled = await isOnnxRuntimeInstalled()
const title = isInstalled
  ? 'loadModelEmbedder'
  : 'loadModelEmbedder (left out: onnxruntime-web is not installed)'

describe.skipIf(!isInstalled)(title, () => {
  // Loading the runtime takes most of the time, so tests that can share one model.
  let folder: string
  let embedder: ModelEmbedder
  beforeAll(async () => {
    folder = await writeModel()
    embedder = await loadModelEmbedder({ dir: folder, batchSize: 2, maxTokens: 12 })
  })
  afterAll(async () => {
    await embedder.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('means the output over word pieces at length 1, whatever else is in the batch (RET-11.5-fastembed-flag)', async () => {
    expect(embedder.profile).toMatchObject({
      id: 'fastembed-all-minilm-l6-v2',
      dims: DIMS,
      tokenizer: 'bert_wordpiece',
      normalisation: 'l2',
    })
    const [short, long] = await embedder.embed(['Deploy', 'deploy the SERVICE, unables Café'])
    expectNear(short, expected('deploy'))
    expectNear(long, expected('deploy', 'the', 'service', '[UNK]', 'un', '##able', '##s', 'cafe'))
  })

  it('gives one vector per text in order over many batches, and none for none', async () => {
    const words = ['deploy', 'the', 'service', 'cafe', 'the']
    const vectors = await embedder.embed(words)
    for (const [at, word] of words.entries()) expectNear(vectors[at], expected(word))
    expect(await embedder.embed([])).toEqual([])
  })

  it('sees the first word pieces of a long text only, and takes text of any kind', async () => {
    const [cut, blank, odd] = await embedder.embed([
      `deploy the${' service'.repeat(100_000)}`,
      ' \n',
      '\ud800',
    ])
    expectNear(cut, expected('deploy', 'the', ...Array<string>(8).fill('service')))
    expectNear(blank, expected())
    expect(odd).toHaveLength(DIMS)
  })

  it('finds the model in a folder onnx and reads tokenizer.json before vocab.txt', async () => {
    const dir = await modelFolder(TABLE, 'onnx/model.onnx')
    const swapped = Object.fromEntries(VOCABULARY.map((token, id) => [token, id]))
    swapped.deploy = VOCABULARY.indexOf('cafe')
    await writeFile(
      join(dir, 'tokenizer.json'),
      JSON.stringify({
        added_tokens: [],
        normalizer: { type: 'BertNormalizer', lowercase: true },
        pre_tokenizer: { type: 'BertPreTokenizer' },
        post_processor: null,
        decoder: null,
        model: {
          type: 'WordPiece',
          unk_token: '[UNK]',
          continuing_subword_prefix: '##',
          max_input_chars_per_word: 100,
          vocab: swapped,
        },
      }),
    )
    const swapping = await load(dir)
    expectNear((await swapping.embed(['deploy']))[0], expected('cafe'))
  })

  it('has a revision that follows from the files, and is not used after it was closed', async () => {
    const again = await load(await modelFolder())
    const other = await load(await modelFolder(VOCABULARY.map((_, piece) => row(piece + 1))))
    expect(again.profile.revision).toBe(embedder.profile.revision)
    expect(other.profile.revision).not.toBe(embedder.profile.revision)
    await other.close()
    await other.close()
    await expect(other.embed(['the'])).rejects.toMatchObject({ code: 'EMBED_CLOSED' })
  })

  it('leaves the event loop alone while it computes', async () => {
    const wide = await load(await modelFolder(), { batchSize: 400 })
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    await wide.embed(Array.from({ length: 400 }, () => 'service '.repeat(250)))
    clearInterval(timer)
    // One batch in one go: in this thread it would let nothing through.
    expect(ticks).toBeGreaterThan(5)
  })

  it('stops at once when told to, and goes on for others', async () => {
    const stopping = new AbortController()
    const long = embedder.embed(
      Array.from({ length: 5000 }, () => 'service'),
      stopping.signal,
    )
    stopping.abort(new Error('enough'))
    await expect(long).rejects.toThrow('enough')
    await expect(embedder.embed(['the'], stopping.signal)).rejects.toThrow('enough')
    expectNear((await embedder.embed(['the']))[0], expected('the'))
  })

  it('refuses a model with vectors of another length, and one of no use', async () => {
    const narrow = await modelFolder(TABLE.map((values) => values.slice(0, 8)))
    await expect(loadModelEmbedder({ dir: narrow })).rejects.toMatchObject({
      code: 'EMBED_MODEL_UNUSABLE',
      message: expect.stringContaining('8 numbers, expected 384'),
    })
    const broken = await modelFolder()
    await writeFile(join(broken, 'model.onnx'), 'no model')
    await expect(loadModelEmbedder({ dir: broken })).rejects.toMatchObject({
      code: 'EMBED_MODEL_UNUSABLE',
    })
    const infinite = await modelFolder(TABLE.map((values) => values.map(() => Number.NaN)))
    await expect(loadModelEmbedder({ dir: infinite })).rejects.toThrow('not finite')
  })

  it('says which file is missing', async () => {
    const dir = await modelFolder()
    await rm(join(dir, 'vocab.txt'))
    await expect(loadModelEmbedder({ dir })).rejects.toThrow('vocab.txt is missing')
    await rm(join(dir, 'model.onnx'))
    await expect(loadModelEmbedder({ dir })).rejects.toThrow('model.onnx is missing')
  })
})

describe('loadModelEmbedder without its runtime', () => {
  it('says which package to add', async () => {
    const runtime = 'a-runtime-that-nobody-has'
    await expect(loadModelEmbedder({ dir: await modelFolder(), runtime })).rejects.toMatchObject({
      code: 'EMBED_MODEL_UNUSABLE',
      message: expect.stringContaining(`the package ${runtime} is not installed`),
    })
  })
})
