import type { Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { type Clock, createPauser, messageOf } from 'crux-types'
import { z } from 'zod'
import {
  addRelation,
  DEFAULT_CONFIDENCE,
  type Relation,
  type RelationNames,
  type RelationSource,
} from './relations.js'

/** What a relation file is read with. */
export interface RelationsFileOptions {
  /** The file; it need not exist. */
  readonly path: string
  readonly clock: Clock
  /** Told of lines that are no relations, by number, and of a file that cannot be read. */
  readonly onWarning: (message: string) => void
  /** Default: that of Node. */
  readonly fs?: {
    stat(path: string): Promise<Pick<Stats, 'mtimeMs' | 'size' | 'ino'>>
    readFile(path: string): Promise<Buffer>
  }
}

const MOST_BYTES = 64 * 1024 * 1024
const CHECK_EVERY_MS = 1000
const MOST_LINE_WARNINGS = 10
const NEWLINE = '\n'.charCodeAt(0)

const name = z.string().min(1)
const line = z.object({
  tenant: name,
  from: name,
  to: name,
  kind: z.string().optional(),
  confidence: z.number().min(0).max(1).default(DEFAULT_CONFIDENCE),
})

/**
 * Relations of a file with one JSON object a line: `{tenant, from, to, kind?, confidence?}`. A file that
 * changed is read again, at most once a second.
 */
export async function openRelationsFile(options: RelationsFileOptions): Promise<RelationSource> {
  const source = new RelationsFile(options)
  await source.refresh()
  return source
}

type Tenants = Map<string, RelationNames>

class RelationsFile implements RelationSource {
  private tenants: Tenants = new Map()
  /** Of the file as it was read last; empty for none. */
  private stamp = ''
  private checkedAt: number | undefined
  private refreshing: Promise<void> | undefined

  constructor(private readonly options: RelationsFileOptions) {}

  refresh(): Promise<void> {
    this.refreshing ??= this.readChanged().finally(() => {
      this.refreshing = undefined
    })
    return this.refreshing
  }

  of(tenant: string, named: string): readonly Relation[] {
    return this.tenants.get(tenant)?.get(named) ?? []
  }

  names(tenant: string): number {
    return this.tenants.get(tenant)?.size ?? 0
  }

  private async readChanged(): Promise<void> {
    const { path, clock, onWarning, fs = { stat, readFile } } = this.options
    const now = clock.now()
    const since = this.checkedAt === undefined ? undefined : now - this.checkedAt
    // A clock that was set back must not stop the checks.
    if (since !== undefined && since >= 0 && since < CHECK_EVERY_MS) return
    this.checkedAt = now
    try {
      const facts = await fs.stat(path).catch((error: unknown) => {
        if (isAbsent(error)) return undefined
        throw error
      })
      const stamp = facts === undefined ? '' : `${facts.mtimeMs} ${facts.size} ${facts.ino}`
      if (stamp === this.stamp) return
      this.stamp = stamp
      if (facts === undefined) this.tenants = new Map()
      else if (facts.size > MOST_BYTES) {
        onWarning(
          `${path} has ${facts.size} bytes, at most ${MOST_BYTES} are read; its relations stay as they were`,
        )
      } else this.tenants = await this.parse(await fs.readFile(path))
    } catch (error) {
      onWarning(`${path} could not be read (${messageOf(error)}); relations stay as they were`)
    }
  }

  private async parse(bytes: Buffer): Promise<Tenants> {
    const { path, onWarning } = this.options
    const tenants: Tenants = new Map()
    const pause = createPauser()
    let number = 0
    let wrong = 0
    for (let start = 0; start < bytes.length; ) {
      const found = bytes.indexOf(NEWLINE, start)
      const end = found < 0 ? bytes.length : found
      const text = bytes.toString('utf8', start, end).trim()
      start = end + 1
      number++
      if (text !== '') {
        const parsed = line.safeParse(parseJson(text))
        if (parsed.success) add(tenants, parsed.data)
        else if (++wrong <= MOST_LINE_WARNINGS) {
          const [issue] = parsed.error.issues
          const where = issue?.path.join('.') ?? ''
          onWarning(`${path}, line ${number}: no relation (${where || 'JSON'}: ${issue?.message})`)
        }
      }
      await pause()
    }
    if (wrong > MOST_LINE_WARNINGS) onWarning(`${path}: ${wrong} lines are no relations`)
    return tenants
  }
}

function add(tenants: Tenants, { tenant, ...relation }: z.output<typeof line>): void {
  let names = tenants.get(tenant)
  if (names === undefined) {
    names = new Map()
    tenants.set(tenant, names)
  }
  addRelation(names, relation)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
