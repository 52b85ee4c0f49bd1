import { reserve } from './memory'

// Entries of documents as the index holds them, 16 bytes each: frame offset u32, length u16, low 16
// bits of the owner's hash, the whole hash u64. They lie in pages: address of the next page, then
// entries; an entry that is never written is zero, which marks a frame that is not indexed.
export const ENTRY_BYTES: usize = 16
const PAGE_DOCS: u32 = 1024
const PAGE_HEAD: usize = 8
const PAGE_BYTES: usize = PAGE_HEAD + <usize>PAGE_DOCS * ENTRY_BYTES
const MOST_LENGTH: u32 = 0xffff

/** Frames up to the last document. */
export let frames: u32 = 0
let firstPage: usize = 0
let page: usize = 0
let pages: u32 = 0
let copied: u32 = 0

/** Note a document; numbers ascend. */
export function addDoc(doc: u32, frameOffset: u32, length: u32, owner: u64): void {
  while (pages <= doc / PAGE_DOCS) addPage()
  const entry = page + PAGE_HEAD + <usize>(doc % PAGE_DOCS) * ENTRY_BYTES
  store<u32>(entry, frameOffset)
  store<u16>(entry, <u16>min(length, MOST_LENGTH), 4)
  store<u16>(entry, <u16>owner, 6)
  store<u64>(entry, owner, 8)
  frames = doc + 1
}

/** Copy the next page's entries to where all entries stand from `start` on. @returns Whether more are left. */
export function copyPage(start: usize): bool {
  if (copied === 0) page = firstPage
  const docs = min(frames - copied, PAGE_DOCS)
  memory.copy(start + <usize>copied * ENTRY_BYTES, page + PAGE_HEAD, <usize>docs * ENTRY_BYTES)
  copied += docs
  page = <usize>load<u32>(page)
  return copied < frames
}

function addPage(): void {
  const next = reserve(PAGE_BYTES)
  if (pages === 0) firstPage = next
  else store<u32>(page, <u32>next)
  page = next
  pages += 1
}
