import { isObject, messageOf } from 'crux-types'
import { z } from 'zod'
import { jsonLines } from './json-lines.js'
import { itemOf, type SourceFile, type SourceItem, toRfc3339 } from './source-item.js'

const FORMAT = 'mem0'
/** A document of JSON is held whole. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024

// As given by `Memory.get_all()` of mem0ai 0.1.116; the platform's answers have the same members.
const memorySchema = z.object({
  id: z.string().min(1),
  memory: z.string(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  user_id: z.string().nullish(),
  agent_id: z.string().nullish(),
  run_id: z.string().nullish(),
  actor_id: z.string().nullish(),
})
const relationSchema = z
  .object({
    source: z.string().min(1),
    relationship: z.string().min(1),
    target: z.string().min(1).optional(),
    destination: z.string().min(1).optional(),
  })
  .transform(({ target, destination, ...rest }) => ({ ...rest, target: target ?? destination }))

/**
 * Memories that mem0 gave out: its answer with `results` (and `relations`), a list, or one a line.
 *
 * A memory belongs to the user, agent or run that it was stored for.
 */
export async function* readMem0(file: SourceFile): AsyncGenerator<SourceItem> {
  const seen = new Set<string>()
  for await (const { where, value, reason } of memoriesOf(file)) {
    if (reason !== undefined) {
      yield { where, reason }
      continue
    }
    const memory = memorySchema.safeParse(value)
    if (!memory.success) {
      const relation = relationSchema.safeParse(value)
      if (relation.success && relation.data.target !== undefined) {
        const { source, relationship, target } = relation.data
        yield itemOf(FORMAT, where, {
          entity: source,
          key: `${relationship} ${target}`,
          value: `${source} ${relationship} ${target}`,
        })
      } else yield { where, reason: 'it is neither a memory with id and memory nor a relation' }
      continue
    }
    const { id, memory: text, created_at, updated_at, actor_id } = memory.data
    if (seen.has(id)) {
      yield { where, reason: `the id ${id} came before in this file` }
      continue
    }
    seen.add(id)
    yield itemOf(FORMAT, where, {
      entity: ownerOf(memory.data),
      key: `memory:${id}`,
      value: text,
      observedAt: toRfc3339(updated_at) ?? toRfc3339(created_at),
      actor: actor_id ?? undefined,
    })
  }
}

function ownerOf({ user_id, agent_id, run_id }: z.output<typeof memorySchema>): string {
  if (user_id) return `user:${user_id}`
  if (agent_id) return `agent:${agent_id}`
  return run_id ? `run:${run_id}` : FORMAT
}

interface Found {
  readonly where: string
  readonly value?: unknown
  readonly reason?: string
}

async function* memoriesOf(file: SourceFile): AsyncGenerator<Found> {
  const document = await readDocument(file)
  if ('reason' in document) {
    yield { where: file.name, reason: document.reason }
    return
  }
  if (document.isLines) {
    yield* jsonLines(file)
    return
  }
  const { value } = document
  const lists = Array.isArray(value)
    ? { results: value }
    : isObject(value)
      ? { results: value.results ?? value.memories, relations: value.relations }
      : {}
  if (!Array.isArray(lists.results)) {
    yield { where: file.name, reason: 'it holds no list of memories (results)' }
    return
  }
  for (const [name, list] of Object.entries(lists)) {
    if (!Array.isArray(list)) continue
    for (const [i, item] of list.entries())
      yield { where: `${file.name}: ${name}[${i}]`, value: item }
  }
}

async function readDocument(
  file: SourceFile,
): Promise<{ isLines: boolean; value: unknown } | { reason: string }> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of file.read()) {
    size += chunk.length
    if (size > MAX_DOCUMENT_BYTES) {
      return {
        reason: `it has more than ${MAX_DOCUMENT_BYTES} bytes; write one memory a line instead`,
      }
    }
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString()
  try {
    const value: unknown = JSON.parse(text)
    // A single memory is a file of one line.
    return { isLines: isObject(value) && 'memory' in value, value }
  } catch (error) {
    if (isJson(text.split('\n', 1)[0] ?? '')) return { isLines: true, value: undefined }
    return {
      reason: `it is no whole JSON document, it may have been cut off (${messageOf(error)})`,
    }
  }
}

function isJson(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}
