import type { ChainBreak } from '../../store/tables/chain-breaks.ts'

/** 2022-01-01: since then every token balance of a transaction names its owner. */
const OWNERS_NAMED_SINCE = 1_640_995_200
/** Rent was taken from system accounts below this many lamports: 128 bytes, two years. */
const RENT_EXEMPT_LAMPORTS = 890_880n

/**
 * Returns the known cause of a break in which RPC has nothing (rule K8); null if there is none.
 * `rent`: rent was collected from a small system account, in old blocks. `no_owner`: balances of
 * transactions of 2021 name no owners.
 */
export function knownCause({
  account,
  expected,
  found,
  blockTime,
}: ChainBreak): 'rent' | 'no_owner' | null {
  if (account === '') return found < expected && expected < RENT_EXEMPT_LAMPORTS ? 'rent' : null
  return blockTime > 0 && blockTime < OWNERS_NAMED_SINCE ? 'no_owner' : null
}
