import { lookup as resolve } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Whether deliveries may go to an address: to the public internet, or with `loopback` there. */
export function isAllowedAddress(address: string, loopback: boolean): boolean {
  if (!ipaddr.isValid(address)) return false
  // `process` turns an IPv4 address in IPv6 into the IPv4 address.
  const range = ipaddr.process(address).range()
  return range === 'unicast' || (loopback && range === 'loopback')
}

/** The error of a connection to an address that is not allowed. */
export class AddressRefused extends Error {}

/**
 * Creates a lookup for connections that refuses a name as soon as one of its addresses is not
 * allowed. The connection goes to the addresses that were looked at, so a name that resolves
 * differently a moment later changes nothing.
 */
export function allowedLookup(loopback: boolean): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, [])
      const isAllowed = found.every(({ address }) => isAllowedAddress(address, loopback))
      if (!isAllowed || found.length === 0) return callback(new AddressRefused(), [])
      const [first] = found
      if (options.all === true) callback(null, found)
      else callback(null, first?.address ?? '', first?.family)
    })
  }
}
