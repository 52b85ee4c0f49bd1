import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createFaultyFs } from '../testing/faulty-fs.js'
import { describeSegmentStore } from '../testing/segment-store-contract.js'
import { openFileSegmentStore } from './file-segment-store.js'

describeSegmentStore('openFileSegmentStore on a disk', async (clock) => {
  const dir = await mkdtemp(join(tmpdir(), 'crux-segments-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const warnings: string[] = []
  const open = () =>
    openFileSegmentStore({ dir, clock, onWarning: (message) => void warnings.push(message) })
  let store = await open()
  const reopen = async () => {
    await store.close()
    store = await open()
    return store
  }
  return { store, warnings, reopen }
})

describeSegmentStore('openFileSegmentStore after a loss of power', async (clock) => {
  const fs = createFaultyFs()
  const warnings: string[] = []
  const open = () =>
    openFileSegmentStore({
      dir: '/data',
      fs,
      clock,
      onWarning: (message) => void warnings.push(message),
    })
  const reopen = async () => {
    fs.crash()
    return await open()
  }
  return { store: await open(), warnings, reopen }
})
