import type { FactStore } from 'crux-memory'
import { hasCode } from 'crux-types'
import type { Log } from '../log.js'

const HOUR_MS = 3_600_000

/**
 * Purge what was forgotten and can no longer be restored: now, which also ends what a crash interrupted,
 * and every hour from now on.
 *
 * @returns What ends it; resolves when a purge that is under way has ended.
 */
export function startPurging(
  facts: Pick<FactStore, 'forgetting'>,
  log: Log,
  everyMs = HOUR_MS,
): { stop(): Promise<void> } {
  let running = Promise.resolve()
  const purge = async (): Promise<void> => {
    try {
      const { purged, held } = await facts.forgetting.purgeDue()
      for (const { receiptId, forgetReceiptId, factIds } of purged) {
        log.info({ receiptId, forgetReceiptId, facts: factIds.length }, 'forgotten values purged')
      }
      for (const { receiptId, holdIds } of held) {
        log.info({ receiptId, holdIds }, 'a purge is due and waits for legal holds')
      }
    } catch (error) {
      if (hasCode(error, 'FACT_STORE_CLOSED', 'JOURNAL_CLOSED')) return
      log.warn({ err: error }, 'forgotten values could not be purged; tried again in an hour')
    }
  }
  const next = (): void => {
    running = running.then(purge)
  }
  next()
  const timer = setInterval(next, everyMs)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      return running
    },
  }
}
