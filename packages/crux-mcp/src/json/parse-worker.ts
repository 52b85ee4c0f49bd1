import { type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { createPauser } from 'crux-types'
import { inspectJson, type JsonFaults, MAX_JSON_DEPTH } from './inspect-json.js'

/** What the worker makes of a body: a value, or why there is none. */
export type WorkerOutcome =
  | (JsonFaults & { readonly value: unknown })
  | { readonly refused: string }

/**
 * Steps that build a value again on this side.
 *
 * A value is sent in pieces, because receiving one large object would hold the event loop as long
 * as parsing it: `whole` values are small, arrays and objects that are not are opened, filled by
 * runs of small members and by opened ones under their key, and closed.
 */
type Step =
  | readonly ['whole', unknown]
  | readonly ['array']
  | readonly ['object']
  | readonly ['items', readonly unknown[]]
  | readonly ['members', readonly (readonly [string, unknown])[]]
  | readonly ['key', string]
  | readonly ['close']

type Reply =
  | (JsonFaults & { readonly id: number; readonly port: MessagePort })
  | { readonly id: number; readonly refused: string }

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

let running: { readonly worker: Worker; readonly waiting: Map<number, Waiting> } | undefined
let nextId = 1

/** Parse bytes in the worker thread, which is started at the first call and ends with the process. */
export async function parseInWorker(bytes: Uint8Array): Promise<WorkerOutcome> {
  const reply = await ask(bytes)
  if ('refused' in reply) return reply
  try {
    const value = await rebuild(reply.port)
    return { value, hasLoneSurrogate: reply.hasLoneSurrogate, isTooDeep: reply.isTooDeep }
  } finally {
    reply.port.close()
  }
}

function ask(bytes: Uint8Array): Promise<Reply> {
  running ??= start()
  const { worker, waiting } = running
  const id = nextId++
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject })
    worker.ref()
    const ownsBuffer = bytes.byteLength === bytes.buffer.byteLength
    const transfer = ownsBuffer && bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : []
    worker.postMessage({ id, bytes }, transfer)
  })
}

function start(): { readonly worker: Worker; readonly waiting: Map<number, Waiting> } {
  // The source text of typed functions, because a worker file would have one path in dist and
  // another, in a language that workers do not read, among the sources.
  const parameters = `require('node:worker_threads'), ${inspectJson.toString()}, ${MAX_JSON_DEPTH}`
  const source = `(${workerMain.toString()})(${parameters})`
  const worker = new Worker(source, { eval: true })
  const waiting = new Map<number, Waiting>()
  const settle = (id: number): Waiting | undefined => {
    const found = waiting.get(id)
    waiting.delete(id)
    if (waiting.size === 0) worker.unref()
    return found
  }
  worker.on('message', (reply: Reply) => settle(reply.id)?.resolve(reply))
  const fail = (error: unknown): void => {
    if (running?.worker === worker) running = undefined
    for (const id of [...waiting.keys()]) settle(id)?.reject(error)
  }
  worker.on('error', fail)
  worker.on('exit', (code) => fail(new Error(`the JSON worker ended with code ${code}`)))
  worker.unref()
  return { worker, waiting }
}

async function rebuild(port: MessagePort): Promise<unknown> {
  const pause = createPauser()
  const open: { readonly target: unknown[] | Record<string, unknown>; readonly key: string }[] = []
  let key = ''
  let result: unknown
  const put = (value: unknown): void => {
    const parent = open.at(-1)?.target
    if (parent === undefined) result = value
    else if (Array.isArray(parent)) parent.push(value)
    else setMember(parent, key, value)
  }
  for (;;) {
    const message = receiveMessageOnPort(port)
    if (message === undefined) return result
    const step: Step = message.message
    if (step[0] === 'whole') put(step[1])
    else if (step[0] === 'array') open.push({ target: [], key })
    else if (step[0] === 'object') open.push({ target: {}, key })
    else if (step[0] === 'key') key = step[1]
    else if (step[0] === 'close') {
      const closed = open.pop()
      key = closed?.key ?? ''
      put(closed?.target)
    } else fill(open.at(-1)?.target, step)
    await pause()
  }
}

function fill(target: unknown, step: Extract<Step, readonly ['items' | 'members', unknown]>): void {
  if (step[0] === 'items' && Array.isArray(target)) {
    for (const item of step[1]) target.push(item)
  } else if (step[0] === 'members' && typeof target === 'object' && target !== null) {
    for (const [name, value] of step[1]) setMember(target, name, value)
  }
}

function setMember(target: object, name: string, value: unknown): void {
  // A plain assignment to `__proto__` would set the prototype instead.
  Object.defineProperty(target, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  })
}

/** Runs in the worker, from its source text: it may use nothing from outside but its parameters. */
function workerMain(
  threads: typeof import('node:worker_threads'),
  inspect: typeof inspectJson,
  maxDepth: number,
): void {
  const runBytes = 128 * 1024
  const decode = new TextDecoder('utf-8', { fatal: true })

  // Sizes of arrays and objects, about as many bytes as their JSON; others are computed on demand.
  const sizes = new Map<unknown, number>()
  const sizeOf = (value: unknown): number => {
    if (typeof value === 'string') return value.length + 2
    return typeof value === 'object' && value !== null ? (sizes.get(value) ?? 2) : 8
  }
  const measure = (root: unknown): void => {
    const order: object[] = []
    const pending: unknown[] = [root]
    while (pending.length > 0) {
      const value = pending.pop()
      if (typeof value !== 'object' || value === null) continue
      order.push(value)
      for (const member of Object.values(value)) pending.push(member)
    }
    for (const value of order.reverse()) {
      let size = 2
      for (const [name, member] of Object.entries(value)) {
        size += sizeOf(member) + (Array.isArray(value) ? 1 : name.length + 4)
      }
      sizes.set(value, size)
    }
  }

  const send = (root: unknown, port: import('node:worker_threads').MessagePort): void => {
    const emit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null || sizeOf(value) <= runBytes) {
        port.postMessage(['whole', value])
        return
      }
      const isArray = Array.isArray(value)
      port.postMessage([isArray ? 'array' : 'object'])
      let run: unknown[] = []
      let runSize = 0
      const flush = (): void => {
        if (run.length > 0) port.postMessage([isArray ? 'items' : 'members', run])
        run = []
        runSize = 0
      }
      for (const [name, member] of Object.entries(value)) {
        if (sizeOf(member) > runBytes) {
          flush()
          if (!isArray) port.postMessage(['key', name])
          emit(member)
        } else {
          run.push(isArray ? member : [name, member])
          runSize += sizeOf(member) + name.length
          if (runSize > runBytes) flush()
        }
      }
      flush()
      port.postMessage(['close'])
    }
    emit(root)
  }

  threads.parentPort?.on('message', ({ id, bytes }: { id: number; bytes: Uint8Array }) => {
    const reply = (message: object, transfer: import('node:worker_threads').TransferListItem[]) =>
      threads.parentPort?.postMessage({ id, ...message }, transfer)
    let text: string
    try {
      text = decode.decode(bytes)
    } catch {
      reply({ refused: 'the body is not valid UTF-8' }, [])
      return
    }
    try {
      const value: unknown = JSON.parse(text)
      const faults = inspect(value, text.includes('\\u'), maxDepth)
      const { port1, port2 } = new threads.MessageChannel()
      // Too deep a value is refused anyway, and would overflow the stack here and there.
      if (!faults.isTooDeep) {
        measure(value)
        send(value, port1)
        sizes.clear()
      }
      reply({ ...faults, port: port2 }, [port2])
    } catch (error) {
      reply({ refused: error instanceof Error ? error.message : String(error) }, [])
    }
  })
}
