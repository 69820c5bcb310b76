import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Returns the client that a request counts for (rule D6): an IPv4 address, or the /64 network of an
 * IPv6 address, as normalised text. `hops` proxies are trusted (`TRUSTED_PROXIES`). Each appends
 * the address of its caller to `X-Forwarded-For`, so the client is the entry written by the
 * outermost proxy; earlier entries were written by the client and are ignored. If entries are
 * missing or invalid, the nearest known address counts.
 */
export function clientOf(
  connection: string | undefined,
  forwardedFor: string | undefined,
  hops: number,
): string {
  return networkOf(wholeAddressOf(connection, forwardedFor, hops))
}

/** Returns the whole address of the client that `clientOf` names; empty if it is not known. */
export function wholeAddressOf(
  connection: string | undefined,
  forwardedFor: string | undefined,
  hops: number,
): string {
  let client = connection ?? ''
  const entries = hops > 0 ? (forwardedFor ?? '').split(',') : []
  for (const entry of entries.reverse().slice(0, hops)) {
    const address = withoutPort(entry.trim())
    if (isIP(address) === 0) break
    client = address
  }
  return client
}

/**
 * Returns the IPv6 /48 around the client's /64, which one customer of a provider may have (RFC
 * 6177). Null for IPv4.
 */
export function siteOf(client: string): string | null {
  if (!client.endsWith('/64')) return null
  const site = `${client.slice(0, -'/64'.length)}/48`
  return `${ipaddr.IPv6.networkAddressFromCIDR(site).toString()}/48`
}

/** Some proxies write `1.2.3.4:567` or `[::1]:567`. */
function withoutPort(entry: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry
}

function networkOf(client: string): string {
  const kind = isIP(client)
  if (kind === 0) return 'unknown' // the connection is already closed
  if (kind === 4) return client
  const address = ipaddr.process(client) // ::ffff:1.2.3.4 is 1.2.3.4
  if (address.kind() === 'ipv4') return address.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString().split('%')[0]}/64`).toString()}/64`
}
