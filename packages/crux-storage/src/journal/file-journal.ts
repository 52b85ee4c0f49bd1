import { type IdSource, uuidHex } from 'crux-types'
import { ensureDirectory } from '../fs/ensure-directory.js'
import { nodeFs } from '../fs/node-fs.js'
import type { StorageFs } from '../fs/storage-fs.js'
import type { Journal } from './journal.js'
import { closed, isForbidden, unusable } from './journal-failures.js'
import type { JournalContext, JournalFailpoint } from './journal-file.js'
import { JournalStream } from './journal-stream.js'
import { assertStream, checkKept, checkRecords } from './record.js'

/** How {@link openFileJournal} opens. */
export interface FileJournalOptions {
  /** Directory of the `<stream>.jsonl` files; created (0700) when absent. */
  readonly dir: string
  /** Default: the machine's. */
  readonly fs?: StorageFs
  /** Names of rescued files and seeds of hash tables: at least 16 hex digits. Default: random. */
  readonly ids?: IdSource
  /** Called at each named step of a rewriting, for crash tests. */
  readonly failpoint?: (name: JournalFailpoint) => void
  /** Told, in a sentence, of what was found wrong and survived. */
  readonly onWarning?: (message: string) => void
}

/**
 * A journal in files, one `<stream>.jsonl` per stream; `docs/formats/journal.md` gives their form.
 *
 * Writers that wait at the same time share one write and one `fdatasync`. Nothing here keeps other
 * processes out: hold the directory with `openDataDirectory` first.
 *
 * @throws {CruxError} `DATA_DIR_UNUSABLE` when the directory cannot be created or read.
 */
export async function openFileJournal(options: FileJournalOptions): Promise<Journal> {
  const { dir, fs = nodeFs, ids = uuidHex, onWarning = () => {} } = options
  const { failpoint = () => {} } = options
  const context: JournalContext = {
    fs,
    dir,
    ids,
    warn: onWarning,
    failpoint,
    poison: undefined,
  }
  try {
    await ensureDirectory(fs, dir)
    await fs.list(dir)
  } catch (error) {
    throw isForbidden(error) ? unusable(dir, error) : error
  }
  const streams = new Map<string, JournalStream>()
  let closing: Promise<void> | undefined

  const open = (name: string): JournalStream => {
    if (closing !== undefined) throw closed()
    let stream = streams.get(name)
    if (stream === undefined) {
      assertStream(name)
      stream = new JournalStream(name, context)
      streams.set(name, stream)
    }
    return stream
  }

  return {
    append(records, expect = []) {
      // Not async: a promise less for each append.
      try {
        if (closing !== undefined) throw closed()
        return open(checkRecords(records)).append(records, expect)
      } catch (error) {
        return Promise.reject(error)
      }
    },
    async follow(stream, from, apply, signal) {
      return open(stream).follow(from, apply, signal)
    },
    async saveSnapshot(stream, at, state) {
      await open(stream).saveSnapshot(at, state)
    },
    async loadSnapshot(stream) {
      return open(stream).loadSnapshot()
    },
    async erase(stream, keys, keep) {
      checkKept(stream, keep)
      await open(stream).erase(keys, keep)
    },
    async rewrite(stream, edit) {
      return open(stream).rewrite(edit)
    },
    async close() {
      closing ??= Promise.all([...streams.values()].map((stream) => stream.close())).then(() => {})
      await closing
    },
  }
}
