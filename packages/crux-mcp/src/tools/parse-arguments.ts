import { CruxError } from 'crux-types'
import type { z } from 'zod'
import type { McpErrorCode } from '../errors.js'

/** Messages for arguments that are present and wrong, by name. */
export type ArgumentRefusals = Readonly<Record<string, (value: unknown) => string>>

type RawArguments = Readonly<Record<string, unknown>>

/**
 * Build the parser of a tool's arguments.
 *
 * Null counts as absent, except where any value is taken.
 *
 * @param required - Names that must be there, in the order in which they are reported.
 * @param missing - Words for required arguments that are not there, in place of the usual ones.
 * @returns A function that gives the parsed arguments or throws `ARGUMENTS_INVALID` with
 *   `missing required param: <name>`, `<name>: expected <type>, got <type>`, or the tool's own words.
 */
export function parseArguments<Input extends z.ZodObject>(
  input: Input,
  required: readonly string[],
  refusals: ArgumentRefusals = {},
  missing: Readonly<Record<string, string>> = {},
): (raw: RawArguments) => z.output<Input> {
  const takesNull = new Set(
    Object.entries(input.shape)
      .filter(([, field]) => field.safeParse(null).success)
      .map(([name]) => name),
  )

  return (raw) => {
    const args = Object.values(raw).includes(null) ? withoutNulls(raw, takesNull) : raw
    for (const name of required) {
      if (args[name] !== undefined) continue
      throw invalidArguments(missing[name] ?? `missing required param: ${name}`)
    }
    const parsed = input.safeParse(args)
    if (parsed.success) return parsed.data
    const issue = parsed.error.issues[0]
    const name = String(issue?.path[0] ?? 'arguments')
    const refusal = refusals[name]
    throw invalidArguments(refusal === undefined ? describe(issue, args) : refusal(args[name]))
  }
}

/** An error about arguments, in words for the caller. */
export function invalidArguments(message: string): CruxError<McpErrorCode> {
  return new CruxError('ARGUMENTS_INVALID', message)
}

function withoutNulls(raw: RawArguments, takesNull: ReadonlySet<string>): RawArguments {
  return Object.fromEntries(
    Object.entries(raw).filter(([name, value]) => value !== null || takesNull.has(name)),
  )
}

function describe(issue: z.core.$ZodIssue | undefined, args: RawArguments): string {
  if (issue === undefined) return 'the arguments do not fit the schema'
  const path = issue.path.map((part) =>
    typeof part === 'number' ? `[${part}]` : `.${String(part)}`,
  )
  const name = path.join('').replace(/^\./, '')
  if (issue.code === 'invalid_type') {
    const value = issue.path.reduce<unknown>(memberOf, args)
    return `${name}: expected ${TYPE_NAMES[issue.expected] ?? issue.expected}, got ${typeName(value)}`
  }
  if (issue.code === 'invalid_value') {
    return `${name}: expected one of ${issue.values.map(String).join(', ')}`
  }
  return `${name}: ${issue.message}`
}

const TYPE_NAMES: Readonly<Record<string, string>> = { int: 'integer', record: 'object' }

function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
