import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  MessageExtraInfo,
  Transport,
} from '@modelcontextprotocol/server'
import type { Answer } from './answer.js'
import type { HeldResults } from './held-result.js'

const SEED_ID = 'seed'

/**
 * One request of the negotiated era: a transport of its own between a protocol server made for it
 * and its answer.
 *
 * Questions to the client go out before the answer under an id that holds the answer's secret id,
 * so that their answers, which come as requests of their own, find their way back.
 */
export class Exchange implements Transport {
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  private seeded: (() => void) | undefined

  constructor(
    readonly answer: Answer,
    private readonly held: HeldResults,
    /** Told when the client waits for nothing more. */
    private readonly onEnd: () => void,
    /** Asked before each question; throws when there are too many. */
    private readonly onQuestion: () => void,
  ) {}

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message) {
      this.answer.push(JSON.stringify('id' in message ? this.ask(message) : message))
    } else if (message.id === SEED_ID) {
      this.seeded?.()
    } else {
      this.answer.finish(this.held.fill(JSON.stringify(message)))
      this.onEnd()
    }
  }

  async close(): Promise<void> {
    this.answer.abandon()
    this.onEnd()
    this.onclose?.()
  }

  /** Tell the protocol server what was agreed with this client; it has seen no request before. */
  async seed(protocolVersion: string, capabilities: object): Promise<void> {
    const done = new Promise<void>((resolve) => {
      this.seeded = resolve
    })
    this.onmessage?.({
      jsonrpc: '2.0',
      id: SEED_ID,
      method: 'initialize',
      params: { protocolVersion, capabilities, clientInfo: { name: 'client', version: '0' } },
    })
    await done
  }

  /** The request itself, or the news that it was cancelled. */
  receive(message: JSONRPCRequest | JSONRPCNotification): void {
    this.onmessage?.(message, { closeSSEStream: () => this.answer.detach() })
  }

  /** An answer of the client to the question of this number. */
  answered(question: number, response: JSONRPCResponse): void {
    this.onmessage?.({ ...response, id: question })
  }

  private ask(question: JSONRPCRequest): JSONRPCRequest {
    if (!this.answer.canStream) {
      throw new Error('the client takes no event stream, so nothing can be asked of it')
    }
    this.onQuestion()
    return { ...question, id: `${this.answer.id}:${question.id}` }
  }
}

/** The stream and the number of the question that an answer names; undefined when it is none of ours. */
export function readQuestionId(id: unknown): { stream: string; question: number } | undefined {
  const [, stream, question] =
    (typeof id === 'string' && /^([0-9a-f]{32}):(\d{1,9})$/.exec(id)) || []
  return stream === undefined ? undefined : { stream, question: Number(question) }
}
