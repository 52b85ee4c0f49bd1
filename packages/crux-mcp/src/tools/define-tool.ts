import type { Observability } from 'crux-observe'
import type { Caller, TokenCounter, WorkWatch } from 'crux-types'
import type { z } from 'zod'
import type { Contract, CrcKind } from '../result/crc-v1.js'
import type { Cursors } from '../result/cursors.js'
import type { BudgetLimits } from '../result/token-budget.js'
import type { ToolResult } from '../result/tool-result.js'
import type { McpServerOptions, Services } from '../server-options.js'
import { type InputSchema, inputSchemaOf } from './input-schema.js'
import { type ArgumentRefusals, parseArguments } from './parse-arguments.js'

/** Group of tools that share a purpose. */
export type Plane =
  | 'retrieval'
  | 'facts'
  | 'memory'
  | 'forgetting'
  | 'sessions'
  | 'identity'
  | 'artefacts'
  | 'substrate'
  | 'observe'

/** What a handler knows about the call besides its arguments. */
export interface CallContext {
  readonly caller: Caller
  /** Aborts when the call's time is up, or its caller waits no more. */
  readonly signal: AbortSignal
  /** For long work: the signal, and where to tell how far it got. */
  readonly watch: WorkWatch
  /** Form of the answer; matters to tools with an envelope. */
  readonly contract: Contract
  readonly features: McpServerOptions['features']
  readonly budgets: BudgetLimits
  /** Says what texts cost against a budget. */
  readonly tokenCounter: TokenCounter
  /** Arguments as they were sent. */
  readonly args: Readonly<Record<string, unknown>>
  readonly cursors: Cursors
  /** What is kept of calls. */
  readonly observe: Observability
  /** The tools that exist, for those that describe them. */
  readonly tools: readonly ToolFacts[]
}

/** What is known about a tool without calling it. */
export interface ToolFacts {
  /** As in the published catalogue: `[a-z0-9_]`, at most 64 characters. */
  readonly name: string
  readonly plane: Plane
  readonly effect: 'read' | 'write'
  /** What it is for, when to use it and what it costs; for agents that choose among tools. */
  readonly description: string
  /** One sentence on the form of the answer, served by `get_bootstrap`. */
  readonly outputDoc: string
  /** Set on tools that answer with an envelope. */
  readonly crc?: CrcKind
}

/** Words for errors of the stores, by their code. */
export type Wording = Readonly<Record<string, (data: Readonly<Record<string, unknown>>) => string>>

export interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> extends ToolFacts {
  /** Flat and literal: no transforms and no unions; each field is described. */
  readonly input: Input
  /** Shape of `structuredContent`, in the current contract; held by tests, not parsed at run time. */
  readonly output?: Output
  /**
   * Looked at before the arguments: gives the answer of a tool that is switched off, or throws what
   * refuses this caller.
   */
  before?(call: CallContext): ToolResult | undefined
  /** What the caller hears when a required argument is missing, where the catalogue words it. */
  readonly missing?: Readonly<Record<string, string>>
  /** Messages for arguments whose refusal is worded by the catalogue. */
  readonly refusals?: ArgumentRefusals
  /**
   * Argument that bounds the answer, for those who ask for less of it; null when none does. Default:
   * the first of `token_budget`, `limit` and `top_k` that is declared.
   */
  readonly boundedBy?: string | null
  /** Arguments that are read without being declared; never reported as ignored. */
  readonly alsoReads?: readonly string[]
  /**
   * Brings the arguments into their declared form where another is taken as well; names that are not
   * declared stand in `alsoReads`.
   */
  normalise?(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
  /** How the tool words what the stores refuse, by their code; `data` is the error's. */
  readonly wording?: Wording
  /** What the caller hears when the journal refuses a write. */
  readonly journalFailure?: string
  run(
    args: z.output<Input>,
    services: Services,
    call: CallContext,
  ): ToolResult | Promise<ToolResult>
}

/** A tool, ready to be listed and called. */
export interface Tool extends ToolFacts {
  readonly inputSchema: InputSchema
  readonly output: z.ZodObject | undefined
  readonly wording: Wording | undefined
  readonly journalFailure: string | undefined
  /** Argument that bounds the answer; null when none does. */
  readonly boundedBy: string | null
  /** Names among the arguments that nothing reads. */
  ignored(args: Readonly<Record<string, unknown>>): readonly string[]
  /** @throws {CruxError} `ARGUMENTS_INVALID`, and what the services throw. */
  call(
    args: Readonly<Record<string, unknown>>,
    services: Services,
    call: CallContext,
  ): ToolResult | Promise<ToolResult>
}

const BOUNDS = ['token_budget', 'limit', 'top_k']

/** Close over the schemas of one tool. A handler names the services it uses with `Pick`. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Input, Output>,
): Tool {
  const {
    input,
    output,
    refusals,
    alsoReads = [],
    wording,
    journalFailure,
    missing,
    boundedBy = BOUNDS.find((name) => name in input.shape) ?? null,
    before,
    normalise = (args) => args,
    run,
    ...facts
  } = spec
  const inputSchema = inputSchemaOf(input)
  const read = new Set([...Object.keys(input.shape), ...alsoReads])
  const parse = parseArguments(input, inputSchema.required, refusals, missing)
  return {
    ...facts,
    inputSchema,
    output,
    wording,
    journalFailure,
    boundedBy,
    ignored: (args) => Object.keys(args).filter((name) => !read.has(name)),
    call: (args, services, call) => before?.(call) ?? run(parse(normalise(args)), services, call),
  }
}
