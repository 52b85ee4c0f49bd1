import { type Caller, createPauser } from 'crux-types'
import { NONE } from '../facts/fact-table.js'
import { AGENT_PREFIX, privateEntity } from '../privacy.js'
import type { RecallContext } from './recall-context.js'
import { Sight } from './sight.js'

/** Names of entities with a live fact that the caller sees, each once, in the order of code points. */
export async function listEntities(
  context: RecallContext,
  caller: Caller,
): Promise<readonly string[]> {
  const table = context.projection.table(caller.tenant)
  if (table === undefined) return []
  const pause = createPauser()
  const index = context.indexOf(table)
  const names: string[] = []
  const own: string[] = []
  for (const owner of new Sight(caller, table).owners) {
    const start = privateEntity(owner, '')
    for (const piece of await index.entitiesStartingWith(start, pause)) {
      for (const entity of piece) {
        if (table.shownOf(entity) > 0) own.push(table.entities.text(entity).slice(start.length))
      }
      await pause()
    }
  }
  own.sort(compareCodePoints)
  let merged = 0
  const push = (name: string): void => {
    if (names.at(-1) !== name) names.push(name)
  }
  for (const piece of await index.entitiesStartingWith('', pause)) {
    for (const entity of piece) {
      if (table.shownOf(entity) === 0 || table.ownerOf(entity) !== NONE) continue
      const name = table.entities.text(entity)
      if (name.startsWith(AGENT_PREFIX)) continue
      for (let next = own[merged]; next !== undefined; next = own[++merged]) {
        if (compareCodePoints(next, name) > 0) break
        push(next)
      }
      push(name)
    }
    await pause()
  }
  for (const name of own.slice(merged)) push(name)
  return names
}

/** Order by code points, as the bytes of UTF-8 have it; plain comparison goes by UTF-16 units. */
export function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
