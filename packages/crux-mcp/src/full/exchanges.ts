import type { ServerResponse } from 'node:http'
import type { JSONRPCNotification, JSONRPCResponse } from '@modelcontextprotocol/server'
import type { Answer } from './answer.js'
import { AnswerStream, readEventId } from './answer-stream.js'
import { type Exchange, readQuestionId } from './exchange.js'

/** How long an answer that was streamed waits for its client to come back, in milliseconds. */
const KEPT_MS = 60_000
/** Answers that wait; the oldest goes first. Each holds at most 1 MiB and its last event. */
const MAX_KEPT = 64
/** Requests that wait for an answer of their user. */
const MAX_QUESTIONS = 256

/** Requests of the negotiated era that are under way, and streams that can be come back to. */
export class Exchanges {
  private readonly running = new Map<string, { name: string; exchange: Exchange; asks: boolean }>()
  private readonly kept = new Map<string, { stream: AnswerStream; timer: NodeJS.Timeout }>()

  /** @param name - Of {@link nameOf}: by which its client can cancel it. */
  add(name: string, exchange: Exchange): void {
    this.running.set(exchange.answer.id, { name, exchange, asks: false })
  }

  /** @throws {Error} When too many requests wait for their users. */
  asks({ id }: Answer): void {
    const waiting = [...this.running.values()].filter(({ asks }) => asks).length
    if (waiting >= MAX_QUESTIONS) {
      throw new Error(`${MAX_QUESTIONS} requests wait for an answer of their user; try again later`)
    }
    const entry = this.running.get(id)
    if (entry !== undefined) entry.asks = true
  }

  /** The request has its answer; a stream stays for a while, in case the connection was lost. */
  ended(stream: Answer): void {
    if (!this.running.delete(stream.id)) return
    if (!(stream instanceof AnswerStream) || !stream.isStreamed) return
    const timer = setTimeout(() => this.kept.delete(stream.id), KEPT_MS)
    timer.unref()
    this.kept.set(stream.id, { stream, timer })
    for (const [id, oldest] of this.kept) {
      if (this.kept.size <= MAX_KEPT) break
      clearTimeout(oldest.timer)
      this.kept.delete(id)
    }
  }

  /** Give an answer to the question that waits for it; others are ignored. */
  answered(owner: string, response: JSONRPCResponse): void {
    const asked = readQuestionId(response.id)
    if (asked === undefined) return
    const exchange = this.running.get(asked.stream)?.exchange
    if (exchange?.answer.holder.owner === owner) exchange.answered(asked.question, response)
  }

  /** Tell a request that its client waits for it no more. */
  cancelled(name: string, notification: JSONRPCNotification): void {
    for (const entry of this.running.values()) {
      if (entry.name !== name) continue
      entry.exchange.receive(notification)
      void entry.exchange.close()
      return
    }
  }

  /** Go on with a stream where `Last-Event-ID` says. False when it is unknown or another's. */
  resume(lastEventId: unknown, owner: string, response: ServerResponse): boolean {
    const event = readEventId(lastEventId)
    if (event === undefined) return false
    const stream =
      this.running.get(event.stream)?.exchange.answer ?? this.kept.get(event.stream)?.stream
    if (!(stream instanceof AnswerStream) || stream.holder.owner !== owner) return false
    return stream.resume(response, event.number)
  }

  /** End what waits for users of those who would not be let in any more. */
  endRefused(): void {
    this.endWaiting(({ answer }) => !answer.holder.isAdmitted())
  }

  /** End what waits for a user; what is under way otherwise gets its answer. */
  close(): void {
    this.endWaiting(() => true)
    for (const { timer } of this.kept.values()) clearTimeout(timer)
    this.kept.clear()
  }

  private endWaiting(isOver: (exchange: Exchange) => boolean): void {
    for (const { exchange, asks } of [...this.running.values()]) {
      if (asks && isOver(exchange)) void exchange.close()
    }
  }
}

/** What tells the requests of one client apart: whose they are, the session, the id. */
export function nameOf(owner: string, sessionId: string | undefined, id: unknown): string {
  return JSON.stringify([owner, sessionId ?? null, id])
}
