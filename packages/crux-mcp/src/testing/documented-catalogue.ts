import { readFileSync } from 'node:fs'

/** What the catalogue documents about a tool, whether it is served yet or not. */
export interface DocumentedTool {
  readonly name: string
  /** Absent while its flag is off. */
  readonly flagged?: boolean
  readonly hosted: boolean
  /** Empty when there is none. */
  readonly affinity: string
  readonly capability: string
  readonly backend: string
  readonly crc?: string
  /** As published, without the schema. */
  readonly consequence: Readonly<Record<string, unknown>>
}

/** The 119 tools of the catalogue in their order, the flagged one in its place. */
export function documentedCatalogue(): readonly DocumentedTool[] {
  const file = new URL('../../fixtures/catalogue.json', import.meta.url)
  // Our own file, of this form.
  return JSON.parse(readFileSync(file, 'utf8')) as DocumentedTool[]
}
