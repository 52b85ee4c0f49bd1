import { createHash } from 'node:crypto'

/** 32 hex digits that name a list of texts: equal for equal lists, and different for others. */
export function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
