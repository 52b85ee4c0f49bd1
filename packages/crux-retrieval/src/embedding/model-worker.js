// The thread of a model embedder. JavaScript, so that the same file runs beside the sources and
// beside what is built from them; the compiler checks it all the same.
import { createHash } from 'node:crypto'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { Tokenizer } from '@huggingface/tokenizers'

/**
 * @typedef {object} Tensor
 * @property {Float32Array} data
 * @property {readonly number[]} dims
 *
 * @typedef {object} Session
 * @property {readonly string[]} inputNames
 * @property {readonly string[]} outputNames
 * @property {(feeds: Record<string, Tensor>) => Promise<Record<string, Tensor>>} run
 *
 * The part of an ONNX runtime that is used.
 * @typedef {object} Runtime
 * @property {{create(model: Uint8Array, options: object): Promise<Session>}} InferenceSession
 * @property {new (type: string, data: BigInt64Array, dims: readonly number[]) => Tensor} Tensor
 * @property {{logLevel?: string, wasm?: {numThreads?: number}}} env
 *
 * @typedef {object} Model
 * @property {(texts: readonly string[]) => Promise<{numbers: Float32Array<ArrayBuffer>, dims: number}>} embed
 * @property {string} revision
 *
 * @typedef {object} WordPieces
 * @property {(text: string) => number[]} idsOf End marks included.
 * @property {number} padding
 */

/** @type {{dir: string, modelPaths: readonly string[], runtime: string, maxTokens: number}} */
const settings = workerData

const REVISION_DIGITS = 16
const SMALLEST_NORM = 1e-12

/** @param {import('node:worker_threads').MessagePort} port */
async function serve(port) {
  /** @type {Model} */
  let model
  try {
    model = await load()
    // Knows the length of vectors, and finds a model that loads but does not run.
    const { dims } = await model.embed(['a'])
    port.postMessage({ kind: 'ready', dims, revision: model.revision })
  } catch (error) {
    port.postMessage({ kind: 'unusable', reason: messageOf(error) })
    return
  }
  port.on('message', (/** @type {{id: number, texts: readonly string[]}} */ { id, texts }) => {
    model.embed(texts).then(
      ({ numbers }) => port.postMessage({ kind: 'vectors', id, numbers }, [numbers.buffer]),
      (error) => port.postMessage({ kind: 'failed', id, reason: messageOf(error) }),
    )
  })
}

/** @returns {Promise<Model>} */
async function load() {
  const runtime = await loadRuntime()
  const bytes = await readFile(await firstExisting(settings.modelPaths))
  const { pieces, source } = await loadWordPieces()
  // Parallel work is one thread per model: a second one would compete with the daemon's own.
  if (runtime.env.wasm !== undefined) runtime.env.wasm.numThreads = 1
  runtime.env.logLevel = 'error'
  const session = await runtime.InferenceSession.create(bytes, { executionProviders: ['cpu'] })
  const unknown = session.inputNames.filter((name) => !(name in FEEDS))
  if (unknown.length > 0) {
    throw new Error(`it asks for ${unknown.join(', ')}, which a sentence model does not have`)
  }
  const output = session.outputNames.find((name) => name === 'last_hidden_state')
  const outputName = output ?? session.outputNames[0] ?? ''
  const revision = createHash('sha256').update(bytes).update(source).digest('hex')
  return {
    revision: revision.slice(0, REVISION_DIGITS),
    async embed(texts) {
      const batch = toBatch(texts.map(pieces.idsOf), pieces.padding)
      const shape = [texts.length, batch.width]
      const feeds = Object.fromEntries(
        session.inputNames.map((name) => [
          name,
          new runtime.Tensor('int64', FEEDS[name]?.(batch) ?? batch.ids, shape),
        ]),
      )
      const { [outputName]: hidden } = await session.run(feeds)
      if (hidden === undefined || hidden.dims.length !== 3) {
        throw new Error(`its output ${outputName} is no list of vectors per word piece`)
      }
      const dims = Number(hidden.dims[2])
      return { numbers: poolMean(hidden.data, batch, dims), dims }
    },
  }
}

/** @returns {Promise<Runtime>} */
async function loadRuntime() {
  try {
    return await import(settings.runtime)
  } catch (error) {
    const isMissing =
      error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    throw new Error(
      isMissing
        ? `the package ${settings.runtime} is not installed; add it beside this program`
        : `the package ${settings.runtime} cannot be loaded (${messageOf(error)})`,
    )
  }
}

/** @param {readonly string[]} paths */
async function firstExisting(paths) {
  for (const path of paths) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  throw new Error(`${paths.join(' or ')} is missing; put the model there`)
}

/** @returns {Promise<{pieces: WordPieces, source: string}>} */
async function loadWordPieces() {
  const { dir, maxTokens } = settings
  const described = await readText(join(dir, 'tokenizer.json'))
  const vocabulary = described === undefined ? await readText(join(dir, 'vocab.txt')) : undefined
  const source = described ?? vocabulary
  if (source === undefined) {
    throw new Error(
      `${join(dir, 'tokenizer.json')} or vocab.txt is missing; put it beside the model`,
    )
  }
  const description = described === undefined ? fromVocabulary(source) : JSON.parse(described)
  const tokenizer = new Tokenizer(description, {})
  /** @param {string} token */
  const required = (token) => {
    const id = tokenizer.token_to_id(token)
    if (id === undefined) throw new Error(`its vocabulary has no ${token}`)
    return id
  }
  const start = required('[CLS]')
  const end = required('[SEP]')
  return {
    source,
    pieces: {
      padding: tokenizer.token_to_id('[PAD]') ?? 0,
      idsOf(text) {
        const { ids } = tokenizer.encode(text, { add_special_tokens: false })
        return [start, ...ids.slice(0, maxTokens - 2), end]
      },
    },
  }
}

/**
 * The description of BERT's uncased word pieces over a list of them, one a line.
 *
 * @param {string} lines
 */
function fromVocabulary(lines) {
  const tokens = lines.split(/\r?\n/)
  if (tokens.at(-1) === '') tokens.pop()
  const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
  return {
    added_tokens: special
      .map((content) => ({ id: tokens.indexOf(content), content, special: true }))
      .filter(({ id }) => id >= 0),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: null,
    decoder: null,
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  }
}

/** @param {string} path */
async function readText(path) {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Row by row, filled up to the longest row.
 *
 * @param {readonly (readonly number[])[]} rows
 * @param {number} padding
 */
function toBatch(rows, padding) {
  const width = Math.max(...rows.map(({ length }) => length))
  const ids = new BigInt64Array(rows.length * width).fill(BigInt(padding))
  const mask = new BigInt64Array(rows.length * width)
  for (const [at, row] of rows.entries()) {
    for (const [column, id] of row.entries()) {
      ids[at * width + column] = BigInt(id)
      mask[at * width + column] = 1n
    }
  }
  return { ids, mask, width, lengths: rows.map(({ length }) => length) }
}

/** @type {Readonly<Record<string, (batch: ReturnType<typeof toBatch>) => BigInt64Array>>} */
const FEEDS = {
  input_ids: ({ ids }) => ids,
  attention_mask: ({ mask }) => mask,
  token_type_ids: ({ ids }) => new BigInt64Array(ids.length),
}

/**
 * Mean of each row's vectors without the padding, at length 1.
 *
 * @param {Float32Array} hidden `rows * width * dims` numbers.
 * @param {ReturnType<typeof toBatch>} batch
 * @param {number} dims
 */
function poolMean(hidden, { lengths, width }, dims) {
  const numbers = new Float32Array(lengths.length * dims)
  for (const [row, length] of lengths.entries()) {
    const sums = new Float64Array(dims)
    for (let token = 0; token < length; token++) {
      const from = (row * width + token) * dims
      for (let d = 0; d < dims; d++) sums[d] = Number(sums[d]) + Number(hidden[from + d])
    }
    const norm = Math.max(Math.hypot(...sums) / length, SMALLEST_NORM) * length
    for (let d = 0; d < dims; d++) numbers[row * dims + d] = Number(sums[d]) / norm
  }
  if (!numbers.every(Number.isFinite)) throw new Error('it gave numbers that are not finite')
  return numbers
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error)
}

// At the end, when everything above is there.
if (parentPort !== null) await serve(parentPort)
