import { CruxError } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import { type StorageFile, type StorageFs, systemCode } from '../fs/storage-fs.js'

/** The error of every call after `close`. */
export function closed(): CruxError<StorageErrorCode> {
  return new CruxError('JOURNAL_CLOSED', 'the journal is closed')
}

/** A write that may or may not have reached the disk. */
export function poisoned(path: string, cause: unknown): CruxError<StorageErrorCode> {
  return new CruxError(
    'JOURNAL_POISONED',
    `writing ${path} failed (${reason(cause)}), so nothing more is written; ${remedy(cause)} and restart`,
    { cause, data: { path, code: systemCode(cause) } },
  )
}

/** A write that was given up before anything was changed. */
export function refused(path: string, cause: unknown): CruxError<StorageErrorCode> {
  return new CruxError(
    'STORAGE_WRITE_FAILED',
    `${path} could not be written (${reason(cause)}) and is unchanged; ${remedy(cause)} and try again`,
    { cause, data: { path, code: systemCode(cause) } },
  )
}

/** A file that does not hold what this process wrote. */
export function changed(path: string): CruxError<StorageErrorCode> {
  return new CruxError(
    'JOURNAL_CHANGED',
    `${path} was changed by another program while it was open; stop that program and restart`,
    { data: { path } },
  )
}

/** A place that may not be written. */
export function unusable(path: string, cause: unknown): CruxError<StorageErrorCode> {
  return new CruxError(
    'DATA_DIR_UNUSABLE',
    `${path} cannot be used (${reason(cause)}); give this user write access or choose another data directory`,
    { cause, data: { path, code: systemCode(cause) } },
  )
}

/** True for the errors of a place that this user may not write. */
export function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR'].includes(systemCode(error) ?? '')
}

/** @throws {CruxError} `DATA_DIR_UNUSABLE` when the file may not be written. */
export async function openForWriting(fs: StorageFs, path: string): Promise<StorageFile> {
  try {
    return await fs.open(path, 'write')
  } catch (error) {
    throw isForbidden(error) ? unusable(path, error) : error
  }
}

function reason(cause: unknown): string {
  return systemCode(cause) ?? String(cause)
}

function remedy(cause: unknown): string {
  const isFull = ['ENOSPC', 'EDQUOT'].includes(systemCode(cause) ?? '')
  return isFull ? 'free disk space' : 'check the disk'
}
