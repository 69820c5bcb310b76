import { type Address, addressBytes } from './address.ts'
import { createKeyTable, mix, Presence } from './key-table.ts'

/**
 * The tracked wallets, by number: the n-th address is `W<n>` for ever. Only ingest and the operator's commands know addresses.
 */
export interface Wallets {
  readonly size: number
  /** Wallet number of 32 key bytes; undefined when not tracked. */
  numberOfKey(key: Uint8Array): number | undefined
  /** Wallet number of an address; undefined when not tracked. */
  numberOf(address: string): number | undefined
  /** Address of wallet number `wallet`; throws a RangeError outside 1..size. */
  addressOf(wallet: number): Address
}

/** Number 1 is the first address of the list. Look-ups cost the same however many wallets there are. */
export function createWallets(addresses: readonly Address[]): Wallets {
  const byAddress = new Map<string, number>()
  const presence = new Presence(addresses.length)
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

/** Of five letters from the middle of a text, which nobody chooses for their looks. */
function textHash(text: string): number {
  return mix(
    text.charCodeAt(12) ^
      (text.charCodeAt(15) << 6) ^
      (text.charCodeAt(18) << 12) ^
      (text.charCodeAt(21) << 18) ^
      (text.charCodeAt(24) << 24),
  )
}
