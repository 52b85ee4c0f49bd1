import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Caller } from 'crux-types'
import type { ResourceSource } from './offering.js'

/** Subscriptions that are kept in all. */
const MAX_SUBSCRIPTIONS = 4096
/** Subscriptions of one owner. */
export const MAX_PER_OWNER = 256

interface Subscription {
  readonly owner: string
  readonly caller: Caller
  readonly uri: string
  readonly tell: (uri: string) => void
  seen: string | undefined
}

/**
 * Who wants to hear of changes to which resource. While there is anybody, and something was written,
 * the resources are read every now and then with the subscriber's own sight, so that nobody hears of
 * what it cannot read.
 */
export class Subscriptions {
  private readonly all = new Map<string, Subscription>()
  private timer: NodeJS.Timeout | undefined
  private isLooking = false
  private seenRevision: string | undefined

  /** @param revision - Another text whenever a resource may have changed; asked for at each look. */
  constructor(
    private readonly sources: readonly ResourceSource[],
    private readonly everyMs: number,
    private readonly revision: () => string,
  ) {}

  /**
   * @param name - What ends it; a second one under the same name takes its place.
   * @returns False when there are too many.
   */
  async add(name: string, subscription: Omit<Subscription, 'seen'>): Promise<boolean> {
    const { owner } = subscription
    const others = [...this.all].filter(([key]) => key !== name)
    const own = others.filter(([, other]) => other.owner === owner)
    if (others.length >= MAX_SUBSCRIPTIONS || own.length >= MAX_PER_OWNER) return false
    const added: Subscription = { ...subscription, seen: undefined }
    this.all.set(name, added)
    added.seen = await this.look(added)
    this.timer ??= setInterval(() => void this.lookAtAll(), this.everyMs).unref()
    return true
  }

  remove(name: string): void {
    this.all.delete(name)
    if (this.all.size === 0) this.close()
  }

  close(): void {
    clearInterval(this.timer)
    this.timer = undefined
  }

  private async lookAtAll(): Promise<void> {
    const revision = this.revision()
    if (this.isLooking || revision === this.seenRevision) return
    this.isLooking = true
    this.seenRevision = revision
    try {
      for (const subscription of [...this.all.values()]) {
        // Each look takes a moment of the event loop; others have theirs in between.
        await nextTurn()
        const now = await this.look(subscription)
        if (now === subscription.seen) continue
        subscription.seen = now
        subscription.tell(subscription.uri)
      }
    } finally {
      this.isLooking = false
    }
  }

  private async look({ caller, uri }: Subscription): Promise<string | undefined> {
    for (const source of this.sources) {
      // A store that cannot be read now shows its changes later.
      const found = await source.read(caller, uri).catch(() => undefined)
      if (found === undefined) continue
      const content = 'text' in found ? found.text : found.blob
      return createHash('sha256').update(content).digest('base64')
    }
    return undefined
  }
}
