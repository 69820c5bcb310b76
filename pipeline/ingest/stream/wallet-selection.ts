/**
 * Where the transactions of wallets are told from others (rule K24):
 * - `list`: the server compares with the addresses (`account_include`), which is exact.
 * - `cuckoo`: the server compares with a filter of two bytes an address (`cuckoo_account_include`).
 *   Some transactions of others pass it.
 * - `whole`: the server sends every transaction that is not a vote.
 */
export const SELECTIONS = ['list', 'cuckoo', 'whole'] as const
/** One of `SELECTIONS`. */
export type Selection = (typeof SELECTIONS)[number]

/**
 * Largest number of wallets of a selection. Servers accept requests of 4 MiB by default
 * (`max_decoding_message_size`, yellowstone-grpc-geyser/src/config.rs). An address takes 46 bytes
 * in a list. A cuckoo filter of up to 996,000 addresses takes 2 MiB, the next size 4 MiB.
 */
const MOST = { list: 80_000, cuckoo: 950_000 }

/** The selection for a number of wallets, unless `chosen` says which one to use. */
export function selectionFor(wallets: number, chosen: Selection | null): Selection {
  if (chosen !== null) return chosen
  if (wallets <= MOST.list) return 'list'
  return wallets <= MOST.cuckoo ? 'cuckoo' : 'whole'
}

/** The selection to use with a server that refuses one or does not know it; null after the last. */
export function selectionAfter(refused: Selection): Selection | null {
  return SELECTIONS[SELECTIONS.indexOf(refused) + 1] ?? null
}
