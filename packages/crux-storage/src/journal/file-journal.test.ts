import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createFaultyFs } from '../testing/faulty-fs.js'
import { describeJournal } from '../testing/journal-contract.js'
import { openFileJournal } from './file-journal.js'

describeJournal('openFileJournal on disk', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'crux-journal-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  let journal = await openFileJournal({ dir })
  return {
    journal,
    async reopen() {
      await journal.close()
      journal = await openFileJournal({ dir })
      return journal
    },
  }
})

describeJournal('openFileJournal that loses power between openings', async () => {
  const fs = createFaultyFs()
  const dir = '/data'
  let journal = await openFileJournal({ dir, fs })
  return {
    journal,
    async reopen() {
      fs.crash()
      journal = await openFileJournal({ dir, fs })
      return journal
    },
  }
})
