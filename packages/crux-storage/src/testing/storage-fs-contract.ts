import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { StorageFs } from '../fs/storage-fs.js'
import { readWholeFile, replaceFile } from '../fs/whole-file.js'

/**
 * Run the contract of {@link StorageFs} against an implementation.
 *
 * @param open - Gives the file system and the path of an existing, empty directory in it.
 */
export function describeStorageFs(
  name: string,
  open: () => Promise<{ fs: StorageFs; dir: string }>,
): void {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  const text = (raw: Uint8Array | undefined): string | undefined =>
    raw && new TextDecoder().decode(raw)

  describe(`${name} as a StorageFs`, () => {
    it('writes chunks at a position and reads them back, short only at the end', async () => {
      const { fs, dir } = await open()
      const file = await fs.open(posix.join(dir, 'a'), 'write')
      await file.write([bytes('hello'), bytes(''), bytes(' world')], 0)
      await file.write([bytes('J')], 0)
      const target = new Uint8Array(20)
      expect(await file.read(target, 6)).toBe(5)
      expect(text(target.subarray(0, 5))).toBe('world')
      expect((await file.stat()).sizeBytes).toBe(11)
      await file.close()
      await file.close()
      expect(text(await readWholeFile(fs, posix.join(dir, 'a')))).toBe('Jello world')
    })

    it('writes more chunks in one call than one vector holds', async () => {
      const { fs, dir } = await open()
      const file = await fs.open(posix.join(dir, 'a'), 'write')
      const chunks = Array.from({ length: 2500 }, (_, i) => bytes(`${i},`))
      await file.write(chunks, 0)
      await file.close()
      const want = Array.from({ length: 2500 }, (_, i) => `${i},`).join('')
      expect(text(await readWholeFile(fs, posix.join(dir, 'a')))).toBe(want)
    })

    it('keeps content on opening, and refuses to create twice or to read what is absent', async () => {
      const { fs, dir } = await open()
      const path = posix.join(dir, 'a')
      await expect(fs.open(path, 'read')).rejects.toMatchObject({ code: 'ENOENT' })
      await replaceFile(fs, path, [bytes('one')])
      await (await fs.open(path, 'write')).close()
      expect(text(await readWholeFile(fs, path))).toBe('one')
      await expect(fs.open(path, 'create')).rejects.toMatchObject({ code: 'EEXIST' })
      expect(await readWholeFile(fs, posix.join(dir, 'b'))).toBeUndefined()
    })

    it('reads zeros where a truncated file grew again', async () => {
      const { fs, dir } = await open()
      const file = await fs.open(posix.join(dir, 'a'), 'write')
      await file.write([bytes('abcdef')], 0)
      await file.truncate(2)
      await file.truncate(4)
      await file.close()
      expect(text(await readWholeFile(fs, posix.join(dir, 'a')))).toBe('ab\0\0')
    })

    it('renames over an existing file, keeps the inode, lists and unlinks', async () => {
      const { fs, dir } = await open()
      const path = (name: string): string => posix.join(dir, name)
      await fs.makeDirectory(path('deep/er'))
      await fs.makeDirectory(path('deep/er'))
      await replaceFile(fs, path('deep/er/x'), [bytes('x')])
      await replaceFile(fs, path('y'), [bytes('y')])
      const before = await fs.stat(path('deep/er/x'))
      await fs.rename(path('deep/er/x'), path('y'))
      expect(await fs.stat(path('y'))).toEqual(before)
      expect(text(await readWholeFile(fs, path('y')))).toBe('x')
      expect([...(await fs.list(dir))].sort()).toEqual(['deep', 'y'])
      expect((await fs.stat(path('deep')))?.kind).toBe('directory')
      await fs.unlink(path('y'))
      expect(await fs.stat(path('y'))).toBeUndefined()
      await expect(fs.unlink(path('y'))).rejects.toMatchObject({ code: 'ENOENT' })
      await fs.syncDirectory(dir)
    })
  })
}
