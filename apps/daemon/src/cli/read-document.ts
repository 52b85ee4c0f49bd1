import { type FileHandle, open as openFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { chunkMarkdown, chunkText, titleOf } from 'crux-documents'
import { messageOf } from 'crux-types'
import type { FoundFile } from './find-files.js'

/** A document as the daemon takes it, or why there is none. */
export type ReadDocument =
  | { readonly json: string; readonly chunks: number }
  | { readonly reason: string }

type ReadableFile = Pick<FileHandle, 'stat' | 'readFile' | 'close'>

/** How a file is opened; `open` of node. */
export type OpenForReading = (path: string, flags: 'r') => Promise<ReadableFile>

/** Longer files are no texts that anybody reads. */
export const MAX_FILE_BYTES = 48 * 1024 * 1024

/**
 * Read, check and cut one file.
 *
 * A file that changes meanwhile is read once more. Neither times nor absolute paths go into the
 * document, so that equal content stays equal.
 */
export async function readDocument(
  file: FoundFile,
  open: OpenForReading = openFile,
): Promise<ReadDocument> {
  let bytes: Buffer | undefined
  try {
    bytes = (await readUnchanged(file.path, open)) ?? (await readUnchanged(file.path, open))
  } catch (error) {
    return { reason: messageOf(error) }
  }
  if (bytes === undefined) return { reason: 'it kept changing while it was read; ingest it again' }
  if (bytes.length > MAX_FILE_BYTES) {
    return { reason: `it has ${bytes.length} bytes; at most ${MAX_FILE_BYTES} are taken` }
  }
  if (bytes.includes(0)) return { reason: 'it is binary' }
  const text = decode(bytes)
  if (text === undefined) return { reason: 'it is not UTF-8 text; convert it first' }
  const isMarkdown = /^\.(md|markdown)$/i.test(extname(file.path))
  const chunks = isMarkdown ? chunkMarkdown(text) : chunkText(text)
  const title = (isMarkdown ? titleOf(text) : undefined) ?? basename(file.path)
  const json = JSON.stringify({
    doc_id: file.docId,
    title,
    chunks: chunks.map((chunk, i) => ({
      chunk_id: chunk.chunkId,
      text: chunk.text,
      chunk_index: i,
      ...(chunk.headingPath.length === 0 ? {} : { heading_path: chunk.headingPath }),
    })),
  })
  return { json, chunks: chunks.length }
}

/** @returns undefined when the file was not the same before and after. */
async function readUnchanged(path: string, open: OpenForReading): Promise<Buffer | undefined> {
  const handle = await open(path, 'r')
  try {
    const before = await stamp(handle)
    const bytes = await handle.readFile()
    const after = await stamp(handle)
    return before === after ? bytes : undefined
  } finally {
    await handle.close()
  }
}

async function stamp(handle: ReadableFile): Promise<string> {
  const { size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true })
  return `${size}:${mtimeNs}:${ctimeNs}`
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
