import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { describeStorageFs } from '../testing/storage-fs-contract.js'
import { nodeFs } from './node-fs.js'

describeStorageFs('nodeFs', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'crux-fs-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  return { fs: nodeFs, dir }
})
