import { type Address, addressBytes } from './address.ts'
import { BloomFilter, createKeyTable, mixBits } from './key-table.ts'

/**
 * The tracked wallets by number. The n-th address is `W<n>` forever. Only ingest and the
 * operator's commands know addresses.
 */
export interface Wallets {
  readonly size: number
  /** Wallet number of 32 key bytes; undefined if not tracked. */
  numberOfKey(key: Uint8Array): number | undefined
  /** Wallet number of an address; undefined if not tracked. */
  numberOf(address: string): number | undefined
  /** Address of a wallet number. Throws a RangeError outside 1..size. */
  addressOf(wallet: number): Address
}

/**
 * Returns the wallets of a list of addresses, numbered from 1. Lookups cost the same for any number
 * of wallets.
 */
export function createWallets(addresses: readonly Address[]): Wallets {
  const byAddress = new Map<string, number>()
  const presence = new BloomFilter(addresses.length)
  addresses.forEach((address, position) => {
    byAddress.set(address, position + 1)
    presence.add(textHash(address))
  })
  const byKey = createKeyTable(addresses.map(addressBytes))
  return {
    size: addresses.length,
    numberOfKey: (key) => byKey.get(key) || undefined,
    numberOf: (address) =>
      presence.mayHave(textHash(address)) ? byAddress.get(address) : undefined,
    addressOf(wallet) {
      const address = addresses[wallet - 1]
      if (address === undefined) throw new RangeError(`no wallet has the number ${wallet}`)
      return address
    },
  }
}

/**
 * Hash of five characters from the middle of an address: vanity addresses choose only their ends.
 */
function textHash(text: string): number {
  return mixBits(
    text.charCodeAt(12) ^
      (text.charCodeAt(15) << 6) ^
      (text.charCodeAt(18) << 12) ^
      (text.charCodeAt(21) << 18) ^
      (text.charCodeAt(24) << 24),
  )
}
