import { connect } from 'node:net'
import fc from 'fast-check'

// What Node's parser and our gates answer; 408 and 431 end the connection.
const STATUSES = [100, 200, 202, 400, 401, 403, 404, 405, 408, 413, 415, 417, 429, 431, 503]
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) /gm

/** Bytes that may be HTTP: requests with damage in every part, one after the other or broken off. */
export function rawBytes(): fc.Arbitrary<Uint8Array> {
  const line = fc.tuple(
    fc.constantFrom('POST', 'GET', 'get', 'CONNECT', 'PRI', '', '\0', 'TRACE'),
    fc.constantFrom('/mcp', '*', 'http://evil.example/mcp', '', '/mcp HTTP/1.1\r\nX:', '/\xff'),
    fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1.1', '', 'HTTP/9'),
  )
  const header = fc.oneof(
    fc.constantFrom(
      ...['Host: localhost', 'Host:', 'Content-Type: application/json', 'Content-Length: 5'],
      ...['Content-Length: -1', 'Content-Length: 5, 6', 'Content-Length: 99999999999999999999'],
      ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Expect: 100-continue'],
      ...['Expect: nothing', 'Connection: close', 'Connection: upgrade', 'Upgrade: websocket'],
      ...[' folded: x', 'No colon', ': no name', 'Nul: \0', `Long: ${'x'.repeat(20_000)}`],
    ),
    fc.string({ unit: 'binary', maxLength: 20 }),
  )
  const body = fc.oneof(
    fc.constantFrom('', '5\r\nhello\r\n0\r\n\r\n', 'ffffffffff\r\nx', '-1\r\n', '{"a":1}', '0\r\n'),
    fc.string({ unit: 'binary', maxLength: 40 }),
  )
  const end = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r')
  const one = fc
    .tuple(line, fc.array(header, { maxLength: 5 }), body, end)
    .map(([start, headers, rest, eol]) => [start.join(' '), ...headers, '', rest].join(eol))
  return fc
    .oneof(
      {
        weight: 6,
        arbitrary: fc.array(one, { minLength: 1, maxLength: 3 }).map((all) => all.join('')),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
    )
    .map((text) => Buffer.from(text, 'latin1'))
}

/**
 * Send bytes over a connection of their own and read until the server ends it.
 *
 * @returns Why the answer is none that is documented; undefined when it is one, or none came.
 */
export async function judgeRaw(port: number, bytes: Uint8Array): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  // A server that refuses what it has not read resets the connection.
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.end(bytes)
  await closed
  if (text !== '' && !text.startsWith('HTTP/1.1 ')) return `no HTTP: ${text.slice(0, 200)}`
  const statuses = [...text.matchAll(STATUS_LINE)].map(([, status]) => Number(status))
  const unknown = statuses.find((status) => !STATUSES.includes(status))
  return unknown === undefined ? undefined : `HTTP ${unknown}: ${text.slice(0, 200)}`
}
