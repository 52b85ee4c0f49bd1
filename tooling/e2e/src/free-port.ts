import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port of this machine that was free a moment ago, for what must be found again after a restart. */
export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('no TCP address')
  return address.port
}
