/**
 * Origin under which a listener of this machine is reached.
 *
 * @param host - Where it listens: of every address, loopback is one.
 */
export function originOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
