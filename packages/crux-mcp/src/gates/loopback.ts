const LOOPBACK_V4 = /^127(?:\.\d{1,3}){3}$/

/** True for a host name or address that only this machine can reach. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '')
  return (
    name === 'localhost' ||
    name === '::1' ||
    LOOPBACK_V4.test(name) ||
    (name.startsWith('::ffff:') && LOOPBACK_V4.test(name.slice('::ffff:'.length)))
  )
}
