import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../testing/start-test-daemon.js'
import { loadPassportSeed } from './passport-key.js'

describe('loadPassportSeed', () => {
  it('makes a seed once, for its owner alone', async () => {
    const folder = await temporaryFolder()
    const path = join(folder, 'keys', 'passport.key')
    const seed = await loadPassportSeed(path)
    const text = await readFile(path, 'utf8')
    expect(text).toMatch(/^[0-9a-f]{64}\n$/)
    expect(Buffer.from(seed).toString('hex')).toBe(text.trim())
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readdir(join(folder, 'keys'))).toEqual(['passport.key'])
    expect(await loadPassportSeed(path)).toEqual(seed)
  })

  it('gives all that ask at once the same one', async () => {
    const path = join(await temporaryFolder(), 'passport.key')
    const seeds = await Promise.all(Array.from({ length: 20 }, () => loadPassportSeed(path)))
    expect(new Set(seeds.map((seed) => Buffer.from(seed).toString('hex'))).size).toBe(1)
  })

  it('refuses what is no seed, and leaves it alone', async () => {
    const path = join(await temporaryFolder(), 'passport.key')
    for (const text of ['', 'ab\n', 'x'.repeat(64), 'a'.repeat(66)]) {
      await writeFile(path, text)
      await expect(loadPassportSeed(path)).rejects.toMatchObject({
        code: 'PASSPORT_KEY_INVALID',
        message: expect.stringContaining('restore it from a backup'),
      })
      expect(await readFile(path, 'utf8')).toBe(text)
    }
    const folder = await temporaryFolder()
    await expect(loadPassportSeed(folder)).rejects.toMatchObject({
      message: expect.stringContaining('EISDIR'),
    })
  })
})
