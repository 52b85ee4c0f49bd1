import type { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import type { FullRequest } from './full-request.js'

type Listener = (event: ServerEvent) => void

/**
 * The open `subscriptions/listen` streams, each with the request that opened it: what concerns one
 * caller's resources is told to that caller only.
 */
export class Subscribers implements ServerEventBus {
  private readonly listeners = new Map<Listener, FullRequest | undefined>()

  /** @param current - The request that is being served. */
  constructor(private readonly current: AsyncLocalStorage<FullRequest>) {}

  publish(event: ServerEvent): void {
    for (const listener of [...this.listeners.keys()]) listener(event)
  }

  /** Tell all streams of one owner. */
  publishToOwner(owner: string, event: ServerEvent): void {
    for (const [listener, opener] of [...this.listeners]) {
      if (opener?.owner === owner) listener(event)
    }
  }

  publishTo(request: FullRequest, event: ServerEvent): void {
    for (const [listener, opener] of [...this.listeners]) {
      if (opener === request) listener(event)
    }
  }

  subscribe(listener: Listener): () => void {
    this.listeners.set(listener, this.current.getStore())
    return () => void this.listeners.delete(listener)
  }
}
