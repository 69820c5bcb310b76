import ipaddr from 'ipaddr.js'

/**
 * Returns the network of a client, as a security event shows it: IPv4 /24 or IPv6 /48. A customer
 * can recognise a connection by it, but it is not a whole address. `client` is the result of
 * `clientOf`, an IPv4 address or an IPv6 /64. Returns `unknown` for anything else.
 */
export function networkOf(client: string): string {
  const [address = ''] = client.split('/')
  if (!ipaddr.isValid(address)) return 'unknown'
  return ipaddr.parse(address).kind() === 'ipv4'
    ? `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/24`).toString()}/24`
    : `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/48`).toString()}/48`
}
