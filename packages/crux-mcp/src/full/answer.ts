import { uuidHex } from 'crux-types'
import type { StreamHolder } from '../http/event-streams.js'

/** Where the answer to one request of the negotiated era goes. */
export interface Answer {
  /** Secret: whoever knows it can answer the request's questions. */
  readonly id: string
  readonly holder: StreamHolder
  /** Messages can be sent before the answer. */
  readonly canStream: boolean
  /** Whether there is a stream that its client can come back to. */
  readonly isStreamed: boolean
  /** Send a message before the answer; it is left out where none can be sent. */
  push(message: string): void
  /** Send the answer and end. */
  finish(message: string): void
  /** End without an answer, which nobody waits for any more. */
  abandon(): void
  /** End this connection only; the client comes back for the rest. */
  detach(): void
}

/** The answer to one request of a batch, which is sent with the others. */
export class BatchedAnswer implements Answer {
  readonly id = uuidHex()
  readonly canStream = false
  readonly isStreamed = false
  /** The answer; undefined when nobody waits for it any more. */
  readonly text: Promise<string | undefined>
  private settle: (text: string | undefined) => void = () => undefined

  constructor(readonly holder: StreamHolder) {
    this.text = new Promise((resolve) => {
      this.settle = resolve
    })
  }

  push(): void {}

  finish(message: string): void {
    this.settle(message)
  }

  abandon(): void {
    this.settle(undefined)
  }

  detach(): void {}
}
