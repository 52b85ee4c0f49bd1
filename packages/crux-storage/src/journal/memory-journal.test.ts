import { describeJournal } from '../testing/journal-contract.js'
import { createMemoryJournal } from './memory-journal.js'

describeJournal('createMemoryJournal', async () => ({ journal: createMemoryJournal() }))
