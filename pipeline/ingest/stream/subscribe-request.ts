import type { SubscribeRequest } from '@triton-one/yellowstone-grpc'
import type { Address } from '../../domain/address.ts'
import type { Wallets } from '../../domain/wallets.ts'

/** Contents of a subscription. */
export interface ChainSubscription {
  readonly wallets: Wallets
  /** Payment addresses and their known token accounts (rule E5). */
  readonly payments?: readonly Address[]
  /** Accounts whose updates are sent: the price pool (rule J7). */
  readonly accounts: readonly Address[]
  /**
   * The first slot to replay; null for live updates only. Servers ignore it in a request that
   * replaces the filters of an open stream.
   */
  readonly fromSlot: number | null
  /** Maximum number of addresses in one filter. Default: all addresses in one filter. */
  readonly addressesPerFilter?: number
}

/**
 * The request for a subscription at commitment `confirmed`:
 * - transactions that name a tracked wallet or change a token balance that it owns, failed ones too
 *   (rule B1). An incoming token transfer names only the token account;
 * - every block meta and every `confirmed` status;
 * - updates of the accounts.
 *
 * Wallets are sent as plain lists, which are exact and which every server version understands.
 * 10,000 wallets make a request of 0.46 MB; servers accept 4 MiB by default
 * (`max_decoding_message_size`, yellowstone-grpc-geyser/src/config.rs).
 *
 * The package's cuckoo filter is not used. It needs a server of August 2026 or later. An older
 * server ignores the unknown field and sends every transaction.
 */
export function subscribeRequest(subscription: ChainSubscription): SubscribeRequest {
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

/** The request for updates of these accounts and every `confirmed` status, at `confirmed`. */
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

/** The request for every block meta at `finalized` (rule K9). Statuses of slots have no hash. */
export function finalizedRequest(fromSlot: number | null): SubscribeRequest {
  return {
    blocksMeta: { metas: {} },
    transactions: {},
    accounts: {},
    slots: {},
    transactionsStatus: {},
    blocks: {},
    entry: {},
    accountsDataSlice: [],
    commitment: FINALIZED,
    ...(fromSlot === null ? {} : { fromSlot: String(fromSlot) }),
  }
}

/**
 * Filters for transactions that name one of the addresses or change a token balance that it owns.
 * Without addresses there is no filter, because an empty one matches every transaction.
 */
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

/** A ping. It does not change the filters. Servers close streams of clients that send nothing. */
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

/** `CommitmentLevel.CONFIRMED`. A number, so that this file imports no client. */
const CONFIRMED = 1
/** `CommitmentLevel.FINALIZED`. */
const FINALIZED = 2
/** `TokenAccountExpansionControlFlag.BALANCE_CHANGED`. */
const BALANCE_CHANGED = 1
