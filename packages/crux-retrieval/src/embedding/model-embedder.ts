import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { CruxError, messageOf } from 'crux-types'
import pLimit from 'p-limit'
import { z } from 'zod'
import type { RetrievalErrorCode } from '../errors.js'
import { runBatches } from './batched-calls.js'
import type { Embedder, EmbedderProfile } from './embedder.js'
import { batchesOf } from './text-batches.js'

/** What {@link loadModelEmbedder} works with. */
export interface ModelEmbedderOptions {
  /** Directory with `model.onnx` (or `onnx/model.onnx`), and `tokenizer.json` or `vocab.txt`. */
  readonly dir: string
  /** Numbers per vector that the model must give; default 384. */
  readonly dims?: number
  /** Model id; default `fastembed-all-minilm-l6-v2`. */
  readonly id?: string
  /** Most word pieces of one text, both end marks included; what is beyond is not seen. Default 256. */
  readonly maxTokens?: number
  /** Texts that are computed together; default 8. */
  readonly batchSize?: number
  /** Package that runs ONNX models; default `onnxruntime-web`. */
  readonly runtime?: string
  /** Longest time of loading; default 120,000. */
  readonly loadTimeoutMs?: number
}

/** An embedder that holds a model and a thread until it is closed. */
export interface ModelEmbedder extends Embedder {
  /** End the thread; calls that still run are rejected. Safe to call twice. */
  close(): Promise<void>
}

/** Text of one batch, whatever the number of texts. */
const BATCH_BYTES = 256 * 1024
/** What cannot hold more word pieces than a model sees is not sent to the thread. */
const MAX_TEXT_CHARS = 16_384

const readyMessage = z.object({ kind: z.literal('ready'), dims: z.int(), revision: z.string() })
const message = z.discriminatedUnion('kind', [
  readyMessage,
  z.object({ kind: z.literal('unusable'), reason: z.string() }),
  z.object({ kind: z.literal('vectors'), id: z.int(), numbers: z.instanceof(Float32Array) }),
  z.object({ kind: z.literal('failed'), id: z.int(), reason: z.string() }),
])

interface Pending {
  resolve(numbers: Float32Array): void
  reject(error: unknown): void
}

/** A thread with a loaded model. */
interface ModelThread {
  readonly facts: z.output<typeof readyMessage>
  embed(texts: readonly string[]): Promise<Float32Array>
  readonly hasEnded: () => boolean
  end(): Promise<void>
}

/**
 * Load a sentence model in ONNX form, such as all-MiniLM-L6-v2, into a thread of its own.
 *
 * A text is cut into word pieces as BERT does it, without regard to letter case; its vector is the
 * mean of the model's output over the pieces, at length 1. Nothing is downloaded. The revision is a
 * hash of the model and its vocabulary. Batches are computed one after the other; those that wait
 * are dropped when their signal is aborted. When the thread dies the next call starts another.
 *
 * The runtime is an optional dependency: install it beside this package.
 *
 * @throws {CruxError} `EMBED_MODEL_UNUSABLE`, with what is missing. `embed` throws
 *   `EMBED_MODEL_FAILED` and `EMBED_CLOSED`, and the signal's reason as soon as it is aborted.
 */
export async function loadModelEmbedder(options: ModelEmbedderOptions): Promise<ModelEmbedder> {
  const { dims = 384, id = 'fastembed-all-minilm-l6-v2', batchSize = 8 } = options
  const first = await startThread(options, dims)
  const { revision } = first.facts
  const profile: EmbedderProfile = {
    id,
    revision,
    dims,
    tokenizer: 'bert_wordpiece',
    promptTemplate: 'none',
    normalisation: 'l2',
  }
  let thread = Promise.resolve(first)
  let isClosed = false
  const lane = pLimit(1)

  const running = async (): Promise<ModelThread> => {
    const current = await thread.catch(() => undefined)
    if (isClosed) throw closed()
    if (current !== undefined && !current.hasEnded()) return current
    thread = startThread(options, dims).then(async (next) => {
      if (next.facts.revision === revision) return next
      await next.end()
      throw unusable(options.dir, 'the files were replaced; restart to use them')
    })
    return thread
  }

  return {
    profile,
    embed: async (texts, signal) => {
      signal?.throwIfAborted()
      return runBatches(
        batchesOf(texts, batchSize, BATCH_BYTES),
        lane,
        async ({ from, to }) => {
          const batch = texts.slice(from, to).map((text) => text.slice(0, MAX_TEXT_CHARS))
          const numbers = await (await running()).embed(batch)
          // Each vector gets a buffer of its own, since callers keep some and drop others.
          return batch.map((_, row) => numbers.slice(row * dims, (row + 1) * dims))
        },
        signal,
      )
    },
    async close() {
      isClosed = true
      const current = await thread.catch(() => undefined)
      await current?.end()
    },
  }
}

async function startThread(options: ModelEmbedderOptions, dims: number): Promise<ModelThread> {
  const { dir } = options
  const worker = new Worker(new URL('./model-worker.js', import.meta.url), {
    workerData: {
      dir,
      modelPaths: [join(dir, 'model.onnx'), join(dir, 'onnx', 'model.onnx')],
      runtime: options.runtime ?? 'onnxruntime-web',
      maxTokens: options.maxTokens ?? 256,
    },
  })
  const pending = new Map<number, Pending>()
  let hasEnded = false
  let nextId = 1
  const failAll = (error: unknown): void => {
    hasEnded = true
    for (const { reject } of pending.values()) reject(error)
    pending.clear()
  }
  worker.on('error', (cause) => failAll(failed(messageOf(cause), cause)))
  worker.on('exit', () => failAll(failed('its thread ended')))

  const facts = await loading(worker, options)
  if (facts.dims !== dims) {
    await worker.terminate()
    throw unusable(dir, `its vectors have ${facts.dims} numbers, expected ${dims}`)
  }
  worker.on('message', (raw: unknown) => {
    const told = message.parse(raw)
    if (told.kind !== 'vectors' && told.kind !== 'failed') return
    const waiting = pending.get(told.id)
    pending.delete(told.id)
    if (told.kind === 'vectors') waiting?.resolve(told.numbers)
    else waiting?.reject(failed(told.reason))
    // A thread that has nothing to do does not keep the process alive.
    if (pending.size === 0) worker.unref()
  })
  worker.unref()
  return {
    facts,
    hasEnded: () => hasEnded,
    embed: (texts) =>
      new Promise((resolve, reject) => {
        if (hasEnded) return reject(closed())
        const id = nextId++
        pending.set(id, { resolve, reject })
        worker.ref()
        worker.postMessage({ id, texts })
      }),
    async end() {
      failAll(closed())
      await worker.terminate()
    },
  }
}

/** Wait until the thread has the model, or says why not. */
async function loading(
  worker: Worker,
  { dir, loadTimeoutMs = 120_000 }: ModelEmbedderOptions,
): Promise<z.output<typeof readyMessage>> {
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(
        () => reject(unusable(dir, `it was not loaded within ${loadTimeoutMs} ms`)),
        loadTimeoutMs,
      )
      worker.once('error', (cause) => reject(unusable(dir, messageOf(cause), cause)))
      worker.once('exit', () => reject(unusable(dir, 'its thread ended')))
      worker.once('message', (raw: unknown) => {
        const told = message.parse(raw)
        if (told.kind === 'ready') resolve(told)
        else reject(unusable(dir, 'reason' in told ? told.reason : 'its thread is out of step'))
      })
    })
  } catch (error) {
    await worker.terminate()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function unusable(dir: string, reason: string, cause?: unknown): CruxError<RetrievalErrorCode> {
  return new CruxError<RetrievalErrorCode>(
    'EMBED_MODEL_UNUSABLE',
    `the model in ${dir} cannot be used: ${reason}`,
    { cause, data: { dir, reason } },
  )
}

function failed(reason: string, cause?: unknown): CruxError<RetrievalErrorCode> {
  return new CruxError<RetrievalErrorCode>(
    'EMBED_MODEL_FAILED',
    `the model failed: ${reason}; the next call tries again`,
    { cause, data: { reason } },
  )
}

function closed(): CruxError<RetrievalErrorCode> {
  return new CruxError<RetrievalErrorCode>('EMBED_CLOSED', 'the embedder is closed')
}
