import { z } from 'zod'
import { jsonLines } from './json-lines.js'
import { itemOf, type SourceFile, type SourceItem, shortDigest } from './source-item.js'

const FORMAT = 'mcp-memory'

// As written by @modelcontextprotocol/server-memory 0.6.3.
const entitySchema = z.object({
  type: z.literal('entity'),
  name: z.string().min(1),
  entityType: z.string(),
  observations: z.array(z.string()),
})
const relationSchema = z.object({
  type: z.literal('relation'),
  from: z.string().min(1),
  to: z.string().min(1),
  relationType: z.string().min(1),
})

/**
 * The knowledge graph of the reference memory server, one entity or relation a line.
 *
 * An entity gives its type and each observation; a relation is a fact of the entity where it starts.
 */
export async function* readMcpMemory(file: SourceFile): AsyncGenerator<SourceItem> {
  for await (const line of jsonLines(file)) {
    if ('reason' in line) {
      yield line
      continue
    }
    const { where, value } = line
    const entity = entitySchema.safeParse(value)
    if (entity.success) {
      const { name, entityType, observations } = entity.data
      if (entityType !== '') {
        yield itemOf(FORMAT, where, { entity: name, key: 'type', value: entityType })
      }
      for (const text of observations) {
        const key = `observation:${shortDigest(text)}`
        yield itemOf(FORMAT, where, { entity: name, key, value: text })
      }
      continue
    }
    const relation = relationSchema.safeParse(value)
    if (relation.success) {
      const { from, to, relationType } = relation.data
      yield itemOf(FORMAT, where, {
        entity: from,
        key: `${relationType} ${to}`,
        value: `${from} ${relationType} ${to}`,
      })
      continue
    }
    yield { where, reason: 'it is neither a whole entity nor a whole relation' }
  }
}
