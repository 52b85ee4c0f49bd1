import { CruxError } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { formatError, inFile } from './errors.js'

describe('inFile', () => {
  const refuse = () => {
    throw formatError('CRC_MISMATCH', 'the checksum differs', { part: 'payload', offset: 16 })
  }

  it('puts file, reason and offset into what a decoder refuses', async () => {
    const error = await inFile('segments/a.ccxm', refuse).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(CruxError)
    expect(error).toMatchObject({
      code: 'CRC_MISMATCH',
      message: 'segments/a.ccxm: the checksum differs; at byte 16',
      data: { part: 'payload', offset: 16, file: 'segments/a.ccxm' },
      cause: expect.any(CruxError),
    })
  })

  it('gives results back and lets other errors pass', async () => {
    await expect(inFile('a', () => 7)).resolves.toBe(7)
    await expect(inFile('a', async () => 8)).resolves.toBe(8)
    const bug = new TypeError('a bug')
    await expect(inFile('a', () => Promise.reject(bug))).rejects.toBe(bug)
  })
})
