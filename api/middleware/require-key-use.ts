import ipaddr from 'ipaddr.js'
import type { KeyScope } from '../accounts/named-keys.ts'
import type { ProductKey } from '../auth/product-keys.ts'
import { ApiError } from '../errors.ts'

/**
 * Refuses a named key from an address that its list does not have (`address_not_allowed`), and for
 * a use outside its scopes (`scope_missing`); rule L15. `scope` null: any key may. `address` is the
 * client's whole address.
 */
export function requireKeyUse(found: ProductKey, scope: KeyScope | null, address: string): void {
  if (found.kind !== 'named') return
  const { scopes, allowedAddresses } = found.key
  if (allowedAddresses.length > 0 && !isAllowed(address, allowedAddresses))
    throw new ApiError('address_not_allowed')
  if (scope !== null && !scopes.includes(scope))
    throw new ApiError('scope_missing', {
      title: `This API key does not have the scope ${scope}, which this call needs.`,
    })
}

function isAllowed(text: string, cidrs: readonly string[]): boolean {
  const [address = ''] = text.split('%')
  if (!ipaddr.isValid(address)) return false
  const client = ipaddr.process(address) // ::ffff:1.2.3.4 is 1.2.3.4
  return cidrs.some((cidr) => {
    const [network, bits] = ipaddr.parseCIDR(cidr)
    return network.kind() === client.kind() && client.match(network, bits)
  })
}
