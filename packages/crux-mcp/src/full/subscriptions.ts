import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Caller } from 'crux-types'
import type { ResourceBlob, ResourceSource, ResourceText, ResourceView } from './offering.js'

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
 * the resources are read every now and then: once for each sight that subscribers have, so that nobody
 * hears of what it cannot read, and a write costs the same for one subscription and for thousands.
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
      const views = new Map<string, ResourceView>()
      for (const subscription of [...this.all.values()]) {
        // Each look takes a moment of the event loop; others have theirs in between.
        await nextTurn()
        const now = await this.lookIn(views, subscription)
        if (now === subscription.seen) continue
        subscription.seen = now
        subscription.tell(subscription.uri)
      }
    } catch {
      // A store that cannot be read now shows its changes later.
      this.seenRevision = undefined
    } finally {
      this.isLooking = false
    }
  }

  /** @param views - What was read in this round, by source and sight. */
  private async lookIn(
    views: Map<string, ResourceView>,
    { caller, uri }: Subscription,
  ): Promise<string | undefined> {
    for (const [index, source] of this.sources.entries()) {
      const name = `${index} ${source.sight(caller)}`
      const view = views.get(name) ?? (await source.view(caller))
      views.set(name, view)
      const found = view.read(uri)
      if (found !== undefined) return digestOf(found)
    }
    return undefined
  }

  private async look({ caller, uri }: Subscription): Promise<string | undefined> {
    for (const source of this.sources) {
      // What cannot be read now is told of once it can.
      const found = await source.read(caller, uri).catch(() => undefined)
      if (found !== undefined) return digestOf(found)
    }
    return undefined
  }
}

function digestOf(found: ResourceText | ResourceBlob): string {
  const content = 'text' in found ? found.text : found.blob
  return createHash('sha256').update(content).digest('base64')
}
