import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'
import { listenHttp } from './listener.js'

interface RawAnswer {
  readonly status: number
  readonly body: string
}

/** Send a body over a real socket, without reading the answer before all of it is written. */
function send(url: string, body: Buffer, headers: Record<string, string> = {}): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', ...headers },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
    })
    sent.end(body)
  })
}

describe('the HTTP listener', () => {
  it('answers a body that is too long, announced or not, and lives on', async () => {
    const { daemon } = await startTestDaemon(await temporaryFolder())
    const long = Buffer.alloc(17 * 1024 * 1024, 0x20)
    const url = `${daemon.httpUrl}/v1/facts`
    for (const headers of [
      { 'content-length': String(long.length) },
      { 'transfer-encoding': 'chunked' },
    ]) {
      const answer = await send(url, long, headers)
      expect(answer.status).toBe(413)
      expect(answer.body).toContain('CORECRUXD_MAX_REQUEST_BODY_BYTES')
    }
    expect((await fetch(`${daemon.httpUrl}/healthz`)).status).toBe(200)
  })

  it('survives clients that break off or speak nonsense', async () => {
    const { daemon } = await startTestDaemon(await temporaryFolder())
    const { port } = new URL(daemon.httpUrl)
    for (const text of [
      'PUT /v1/facts HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"en',
      'nonsense\r\n\r\n',
      `GET / HTTP/1.1\r\nhost: localhost\r\nx-long: ${'x'.repeat(40_000)}\r\n\r\n`,
    ]) {
      const socket = connect(Number(port), '127.0.0.1')
      await new Promise((resolve) => socket.once('connect', resolve))
      const ended = new Promise((resolve) => socket.once('close', resolve))
      socket.on('error', () => undefined)
      socket.resume()
      socket.end(text)
      await ended
    }
    expect((await fetch(`${daemon.httpUrl}/healthz`)).status).toBe(200)
  })

  it('lets a request in flight finish when it closes', async () => {
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let arrived = (): void => undefined
    const asked = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const listener = await listenHttp(
      {
        async fetch() {
          arrived()
          await held
          return new Response('done')
        },
      },
      { host: '127.0.0.1', port: 0 },
    )
    onTestFinished(() => listener.closeNow())
    const answer = fetch(listener.url)
    await asked
    const closed = listener.close()
    release()
    expect(await (await answer).text()).toBe('done')
    await closed
    await expect(fetch(listener.url)).rejects.toThrow()
  })
})
