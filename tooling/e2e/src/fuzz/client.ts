import { Pool } from 'undici'
import type { FuzzedRequest } from './http-requests.js'

/** What a request was answered with. */
export interface HttpReply {
  readonly status: number
  /** The body; empty for a stream. */
  readonly text: string
  readonly isStream: boolean
}

/** Sends requests over 64 connections. */
export interface FuzzClient {
  /** A stream is cut at once. */
  send(request: FuzzedRequest): Promise<HttpReply>
  /**
   * Read a stream to its end, or until `onEvent` says that it has seen enough.
   *
   * @returns The payloads of its events, and the id of the last one, besides what `send` gives.
   */
  follow(
    request: FuzzedRequest,
    onEvent: (data: string) => Promise<'go on' | 'enough'>,
  ): Promise<
    HttpReply & { readonly events: readonly string[]; readonly lastId: string | undefined }
  >
  close(): Promise<void>
}

const LONGEST_STREAM_MS = 60_000

/** @param origin - Where requests go. */
export function createFuzzClient(origin: string): FuzzClient {
  const pool = new Pool(origin, { connections: 64, pipelining: 1 })
  const ask = async ({ method, path, headers, body }: FuzzedRequest) => {
    const answer = await pool.request({ method, path, headers, body })
    return { answer, isStream: answer.headers['content-type'] === 'text/event-stream' }
  }
  return {
    async send(request) {
      const { answer, isStream } = await ask(request)
      if (isStream) answer.body.on('error', () => undefined).destroy()
      return { status: answer.statusCode, text: isStream ? '' : await answer.body.text(), isStream }
    },
    async follow(request, onEvent) {
      const { answer, isStream } = await ask(request)
      const status = answer.statusCode
      const events: string[] = []
      let lastId: string | undefined
      if (!isStream) {
        return { status, text: await answer.body.text(), isStream, events, lastId }
      }
      const timer = setTimeout(
        () => answer.body.destroy(new Error('the stream does not end')),
        LONGEST_STREAM_MS,
      )
      let rest = ''
      for await (const chunk of answer.body.setEncoding('utf8')) {
        rest += String(chunk)
        const blocks = rest.split('\n\n')
        rest = blocks.pop() ?? ''
        let isEnough = false
        for (const block of blocks) {
          lastId = /^id: (.+)$/m.exec(block)?.[1] ?? lastId
          const data = /^data: (.*)$/m.exec(block)?.[1]
          if (data === undefined || data === '') continue
          events.push(data)
          isEnough = (await onEvent(data)) === 'enough' || isEnough
        }
        // Leaving the loop cuts the connection.
        if (isEnough) break
      }
      clearTimeout(timer)
      return { status, text: '', isStream, events, lastId }
    },
    close: () => pool.destroy(),
  }
}
