import type { BudgetReport } from './budget-report.js'
import { JsonText } from './json-text.js'
import { longAnswerWarning } from './long-answer.js'

/** A tool's answer in the form of the protocol; texts and values may be {@link JsonText}. */
export interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string | JsonText }[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
  /** Members of `_meta.crux`. */
  readonly notes?: ResultNotes
  /** The members of `structuredContent` stand beside `content` as well, for clients that look there. */
  readonly isRepeatedBeside?: boolean
  /** Audit envelope: stands in the structured content already, and is mirrored at `_meta.envelope`. */
  readonly envelope?: unknown
}

/** What accompanies an answer, under `_meta.crux`. */
export interface ResultNotes {
  readonly budget?: BudgetReport
  readonly warning?: string
  readonly ignored_arguments?: readonly string[]
}

/** An answer of one text, with what programs read beside it. */
export function answer(
  text: string | JsonText,
  more: {
    readonly structured?: Readonly<Record<string, unknown>>
    /** Put the members of `structured` beside `content` as well. */
    readonly isRepeatedBeside?: boolean
    readonly isError?: boolean
    readonly budget?: BudgetReport | undefined
    readonly warning?: string | undefined
  } = {},
): ToolResult {
  const notes: { budget?: BudgetReport; warning?: string } = {}
  if (more.budget !== undefined) notes.budget = more.budget
  if (more.warning !== undefined) notes.warning = more.warning
  return {
    content: [{ type: 'text', text }],
    ...(more.structured === undefined ? {} : { structuredContent: more.structured }),
    ...(more.isRepeatedBeside === true ? { isRepeatedBeside: true } : {}),
    ...(more.isError === undefined ? {} : { isError: more.isError }),
    ...(Object.keys(notes).length === 0 ? {} : { notes }),
  }
}

/**
 * JSON text of a result as it goes on the wire: a top-level `content`, notes under `_meta.crux`, among
 * them a warning when it is long.
 *
 * @param about.ignored - Arguments that nothing read.
 * @param about.boundedBy - Argument that bounds the tool's answers; null when none does.
 */
export function writeResult(
  result: ToolResult,
  {
    ignored,
    boundedBy,
  }: { readonly ignored: readonly string[]; readonly boundedBy: string | null },
): string {
  let text = `{"content":[${result.content.map(writeContent).join(',')}]`
  if (result.structuredContent !== undefined) {
    const members = writeMembers(result.structuredContent)
    text += `,"structuredContent":{${members}}`
    if (result.isRepeatedBeside === true && members !== '') text += `,${members}`
  }
  if (result.isError !== undefined) text += `,"isError":${result.isError}`
  const crux = {
    ...result.notes,
    ...warnedBudget(result.notes?.budget, longAnswerWarning(text, boundedBy)),
    ...(ignored.length === 0 ? {} : { ignored_arguments: ignored }),
  }
  const meta = {
    ...(Object.keys(crux).length === 0 ? {} : { crux }),
    ...(result.envelope === undefined ? {} : { envelope: result.envelope }),
  }
  if (Object.keys(meta).length > 0) text += `,"_meta":${JSON.stringify(meta)}`
  return `${text}}`
}

/** The budget of an answer with one warning more; alone when there is no budget. */
function warnedBudget(budget: BudgetReport | undefined, warning: string | undefined) {
  if (warning === undefined) return {}
  const warnings = [budget?.warning, warning].filter((each) => each !== undefined)
  return { budget: { ...budget, warning: warnings.join('; ') } }
}

function writeContent({ text }: ToolResult['content'][number]): string {
  return `{"type":"text","text":${toJson(text)}}`
}

/** The inside of a JSON object some of whose members are JSON text already. */
function writeMembers(members: Readonly<Record<string, unknown>>): string {
  let text = ''
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${toJson(value)}`
  }
  return text
}

function toJson(value: unknown): string {
  return value instanceof JsonText ? value.text : JSON.stringify(value)
}
