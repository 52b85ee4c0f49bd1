import { describe, expect, it } from 'vitest'
import { readBody } from './body.js'

function requestOf(stream: ReadableStream<Uint8Array>): Request {
  return new Request('http://localhost/', { method: 'POST', body: stream, duplex: 'half' })
}

describe('readBody', () => {
  it('gives the bytes in order', async () => {
    const stream = new Blob(['one ', 'two']).stream()
    const bytes = await readBody(requestOf(stream), 100, new AbortController().signal)
    expect(new TextDecoder().decode(bytes)).toBe('one two')
  })

  it('gives up a body that does not arrive in time with 408', async () => {
    const time = new AbortController()
    const never = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array([1])),
    })
    const reading = readBody(requestOf(never), 100, time.signal)
    time.abort()
    await expect(reading).rejects.toMatchObject({ problem: { slug: 'request-timeout' } })
  })

  it('stops reading at the limit', async () => {
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(1000))
      },
    })
    const reading = readBody(requestOf(endless), 10_000, new AbortController().signal)
    await expect(reading).rejects.toMatchObject({ problem: { slug: 'payload-too-large' } })
    expect(pulled).toBeLessThan(20)
  })
})
