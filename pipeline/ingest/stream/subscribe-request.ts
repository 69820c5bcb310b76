import type { SubscribeRequest } from '@triton-one/yellowstone-grpc'
import type { Address } from '../../domain/address.ts'
import type { Wallets } from '../../domain/wallets.ts'

/** What the service wants to hear of. */
export interface Subscription {
  readonly wallets: Wallets
  /** Payment addresses and their known token accounts (rule E5): whoever pays them. */
  readonly payments?: readonly Address[]
  /** Accounts whose bytes are followed: the price pool (rule J7). */
  readonly accounts: readonly Address[]
  /** Replays from this slot on; null: live. Ignored by servers when a request replaces another on an open stream. */
  readonly fromSlot: number | null
  /** How many addresses the server takes in one filter. */
  readonly addressesPerFilter?: number
}

/**
 * The subscription at `confirmed`: transactions that name a tracked wallet or change a token balance that it owns (an incoming transfer names
 * only the token account), failed ones too (rule B1), every block meta, every `confirmed` status, and the accounts.
 *
 * Wallets go as plain lists: exact, and understood by servers of every version. 10,000 wallets make a request of 0.46 MB, against 4 MiB that
 * servers take by default (`max_decoding_message_size`, yellowstone-grpc-geyser/src/config.rs). Servers that limit the addresses of a filter
 * get several filters. The cuckoo filter of the package needs a server of August 2026; an older one ignores the unknown field, and what is
 * left of the filter asks for everything.
 */
export function subscribeRequest(subscription: Subscription): SubscribeRequest {
  const { wallets, accounts, fromSlot, payments = [], addressesPerFilter } = subscription
  const addresses = Array.from({ length: wallets.size }, (_, at) => wallets.addressOf(at + 1))
  return {
    transactions: {
      ...filtersOf('wallets', addresses, addressesPerFilter ?? wallets.size),
      ...filtersOf('payments', payments, addressesPerFilter ?? payments.length),
    },
    accounts:
      accounts.length === 0 ? {} : { accounts: { account: [...accounts], owner: [], filters: [] } },
    blocksMeta: { metas: {} },
    slots: { slots: { filterByCommitment: true } },
    transactionsStatus: {},
    blocks: {},
    entry: {},
    accountsDataSlice: [],
    commitment: CONFIRMED,
    ...(fromSlot === null ? {} : { fromSlot: String(fromSlot) }),
  }
}

/** A subscription at `confirmed` to nothing but these accounts and every `confirmed` status; `addressesPerFilter`: see `Subscription`. */
export function accountsRequest(
  accounts: readonly Address[],
  addressesPerFilter = accounts.length,
): SubscribeRequest {
  const filters: SubscribeRequest['accounts'] = {}
  for (let at = 0; at < accounts.length; at += addressesPerFilter)
    filters[`accounts-${at / addressesPerFilter + 1}`] = {
      account: accounts.slice(at, at + addressesPerFilter),
      owner: [],
      filters: [],
    }
  return {
    accounts: filters,
    slots: { slots: { filterByCommitment: true } },
    transactions: {},
    blocksMeta: {},
    transactionsStatus: {},
    blocks: {},
    entry: {},
    accountsDataSlice: [],
    commitment: CONFIRMED,
  }
}

/** Transactions that name one of the addresses, or change a token balance that it owns. Without an address there is no filter: an empty one would ask for every transaction of the chain. */
function filtersOf(
  name: string,
  addresses: readonly Address[],
  perFilter: number,
): SubscribeRequest['transactions'] {
  const filters: SubscribeRequest['transactions'] = {}
  for (let at = 0; at < addresses.length; at += perFilter) {
    filters[`${name}-${at / perFilter + 1}`] = {
      accountInclude: addresses.slice(at, at + perFilter),
      accountExclude: [],
      accountRequired: [],
      tokenAccounts: BALANCE_CHANGED,
    }
  }
  return filters
}

/** A request that only pings; the filters stay as they are. Servers drop streams on which the client is silent. */
export function pingRequest(id: number): SubscribeRequest {
  return {
    transactions: {},
    accounts: {},
    blocksMeta: {},
    slots: {},
    transactionsStatus: {},
    blocks: {},
    entry: {},
    accountsDataSlice: [],
    ping: { id },
  }
}

/** `CommitmentLevel.CONFIRMED` and `TokenAccountExpansionControlFlag.BALANCE_CHANGED`, by number so that this file imports no client. */
const CONFIRMED = 1
const BALANCE_CHANGED = 1
