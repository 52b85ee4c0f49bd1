import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createServerDrain } from './server-drain.js'

const KEPT_FOR_AN_HOUR = { keepAliveTimeout: 3_600_000 }
const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'

async function listen(answer: RequestListener) {
  const server = createServer(KEPT_FOR_AN_HOUR, answer)
  const drain = createServerDrain(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => drain.closeNow())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { server, drain, port }
}

/** A client that keeps its side open, whatever happens. */
async function open(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  return socket
}

describe('createServerDrain', () => {
  it('waits neither for connections that sent nothing or half a request, nor for kept ones', async () => {
    const { server, drain, port } = await listen((_request, response) => response.end('done'))
    const sockets = await Promise.all(
      ['', 'POST / HTT', GET, 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n12'].map(
        (text) => open(port, text),
      ),
    )
    const ended = sockets.map((socket) => once(socket.resume(), 'close'))
    await once(server, 'request')
    await drain.close()
    await drain.close()
    await Promise.all(ended)
  })

  it('lets a request in flight finish, also one that arrives while it closes', async () => {
    const waiting: (() => void)[] = []
    const { server, drain, port } = await listen((_request, response) => {
      waiting.push(() => response.end('done'))
    })
    const early = await open(port, GET)
    await once(server, 'request')
    const late = await open(port, '')
    const closed = drain.close()
    late.write(GET)
    await once(server, 'request')
    let isClosed = false
    void closed.then(() => {
      isClosed = true
    })
    // Longer than connections without a request are left alone.
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(isClosed).toBe(false)
    const answers = [early, late].map(async (socket) => {
      let text = ''
      for await (const chunk of socket.setEncoding('utf8')) text += String(chunk)
      return text
    })
    for (const answer of waiting) answer()
    expect(await Promise.all(answers)).toEqual([
      expect.stringContaining('done'),
      expect.stringContaining('done'),
    ])
    await closed
  })

  it('ends what never ends by itself when told to', async () => {
    const { server, drain, port } = await listen(() => undefined)
    const socket = await open(port, GET)
    await once(server, 'request')
    const closed = drain.close()
    const ended = once(socket.resume(), 'close')
    drain.closeNow()
    await Promise.all([closed, ended])
  })
})
