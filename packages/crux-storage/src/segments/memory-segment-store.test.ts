import { describeSegmentStore } from '../testing/segment-store-contract.js'
import { createMemorySegmentStore } from './memory-segment-store.js'

describeSegmentStore('createMemorySegmentStore', async (clock) => {
  const warnings: string[] = []
  const onWarning = (message: string) => {
    warnings.push(message)
  }
  return { store: await createMemorySegmentStore({ clock, onWarning }), warnings }
})
