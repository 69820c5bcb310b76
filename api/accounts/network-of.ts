import ipaddr from 'ipaddr.js'

/**
 * The network of a client as a security event shows it: IPv4 /24, IPv6 /48. It is enough for a
 * customer to recognise a connection, and is no whole address. `client`: as `clientOf` gives it, an
 * IPv4 address or an IPv6 /64; `unknown` for anything else.
 */
export function networkOf(client: string): string {
  const [address = ''] = client.split('/')
  if (!ipaddr.isValid(address)) return 'unknown'
  return ipaddr.parse(address).kind() === 'ipv4'
    ? `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/24`).toString()}/24`
    : `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/48`).toString()}/48`
}
