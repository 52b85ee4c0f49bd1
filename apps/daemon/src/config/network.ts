import { BlockList, isIP } from 'node:net'

/** True for `address/prefix`, or a bare address. */
export function isCidr(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32)
}

/** A test of membership in any of these ranges, each checked by {@link isCidr}. */
export function cidrMatcher(ranges: readonly string[]): (address: string) => boolean {
  const known = blockList(ranges)
  return (address) => {
    // A listener on `::` reports IPv4 peers in their mapped form.
    const bare = address.replace(/^::ffff:(?=\d+\.)/i, '')
    const family = isIP(bare)
    return family !== 0 && known.check(bare, family === 6 ? 'ipv6' : 'ipv4')
  }
}

function blockList(ranges: readonly string[]): BlockList {
  const known = new BlockList()
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    known.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return known
}
