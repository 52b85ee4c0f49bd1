import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { filesHolding } from './byte-search.js'

const TEXT = 'needle "é" of 24 bytes'

describe('filesHolding', () => {
  it.each([
    ['UTF-8', `a ${TEXT} b`],
    ['UTF-16LE', Buffer.from(`a ${TEXT} b`, 'utf16le')],
    ['UTF-16BE', Buffer.from(`a ${TEXT} b`, 'utf16le').swap16()],
    ['JSON', JSON.stringify({ a: TEXT })],
    ['JSON in JSON', JSON.stringify({ a: JSON.stringify({ b: TEXT }) })],
    ['base64 after 0', Buffer.from(`${TEXT} and more`).toString('base64')],
    ['base64 after 1', Buffer.from(`x${TEXT}yy`).toString('base64')],
    ['base64 after 2', Buffer.from(`xx${TEXT}`).toString('base64')],
    ['hex', Buffer.from(TEXT).toString('hex')],
  ])('finds %s below a folder', async (form, content) => {
    const folder = await mkdtemp(join(tmpdir(), 'crux-bytes-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await mkdir(join(folder, 'deep'))
    await writeFile(join(folder, 'deep', 'file'), content)
    expect(await filesHolding(folder, TEXT)).toContain(`${join(folder, 'deep', 'file')}: ${form}`)
    expect(await filesHolding(folder, `${TEXT} zzz`)).toEqual([])
  })
})
