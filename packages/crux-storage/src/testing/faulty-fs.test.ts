import { describe, expect, it } from 'vitest'
import { createFaultyFs } from './faulty-fs.js'
import { describeStorageFs } from './storage-fs-contract.js'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describeStorageFs('FaultyFs', async () => {
  const fs = createFaultyFs()
  await fs.makeDirectory('/data')
  return { fs, dir: '/data' }
})

describe('createFaultyFs', () => {
  it('forgets unsynced bytes and names on a crash, and keeps synced ones', async () => {
    const fs = createFaultyFs()
    const kept = await fs.open('/kept', 'write')
    await kept.write([bytes('ab')], 0)
    await kept.datasync()
    await kept.write([bytes('cd')], 2)
    await fs.syncDirectory('/')
    const nameless = await fs.open('/nameless', 'write')
    await nameless.write([bytes('x')], 0)
    await nameless.sync()
    fs.crash()
    expect(fs.peek('/kept')).toEqual(bytes('ab'))
    expect(fs.peek('/nameless')).toBeUndefined()
    await expect(kept.write([bytes('z')], 0)).rejects.toMatchObject({ code: 'EIO' })
  })

  it('can let some unsynced changes survive, tearing a write', async () => {
    const fs = createFaultyFs()
    fs.plant('/a', bytes(''))
    const file = await fs.open('/a', 'write')
    await file.write([bytes('1111')], 0)
    await file.write([bytes('2222')], 4)
    fs.crash((unsynced) => unsynced * 0.75)
    expect(fs.peek('/a')).toEqual(bytes('111122'))
  })

  it('undoes an unsynced rename', async () => {
    const fs = createFaultyFs()
    fs.plant('/a', bytes('a'))
    fs.plant('/b', bytes('b'))
    await fs.rename('/a', '/b')
    fs.crash()
    expect(fs.peek('/a')).toEqual(bytes('a'))
    expect(fs.peek('/b')).toEqual(bytes('b'))
  })

  it('fails the n-th call once, half-writing, and loses what a failed sync was to keep', async () => {
    const fs = createFaultyFs()
    fs.plant('/a', bytes(''))
    const file = await fs.open('/a', 'write')
    fs.failAt(1, 'EIO')
    await expect(file.write([bytes('1234')], 0)).rejects.toMatchObject({ code: 'EIO' })
    expect(fs.peek('/a')).toEqual(bytes('12'))
    fs.failAt(1, 'EIO', ['datasync'])
    await file.write([bytes('1234')], 0)
    await expect(file.datasync()).rejects.toMatchObject({ code: 'EIO' })
    await file.datasync()
    fs.crash()
    expect(fs.peek('/a')).toEqual(bytes(''))
    expect(fs.clearFailure()).toBe(false)
  })

  it('is full at its capacity', async () => {
    const fs = createFaultyFs()
    fs.setCapacity(5)
    const file = await fs.open('/a', 'write')
    await expect(file.write([bytes('1234567')], 0)).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(fs.peek('/a')).toEqual(bytes('12345'))
    await file.write([bytes('abcde')], 0)
  })
})
