import type { SubscribeRequest } from '@triton-one/yellowstone-grpc'
import type { Address } from '../../domain/address.ts'
import type { Wallets } from '../../domain/wallets.ts'
import { cuckooFilterOf, emptyCuckooFilter } from './cuckoo-filter.ts'
import type { Selection } from './wallet-selection.ts'

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
  readonly addressesPerFilter?: number | undefined
  /** How transactions of wallets are selected. Default: `list`. */
  readonly selection?: Selection
}

/**
 * The request for a subscription at commitment `confirmed`:
 * - transactions that name a tracked wallet or change a token balance that it owns, failed ones too
 *   (rule B1). An incoming token transfer names only the token account;
 * - every block meta and every `confirmed` status;
 * - updates of the accounts.
 *
 * How wallets are sent depends on the selection (rule K24). Plain lists are exact, and every server
 * version understands them. A cuckoo filter needs yellowstone-grpc-geyser 15.1 (proto 12.6).
 * An older server ignores the unknown field and sends every transaction; then each update names
 * `CUCKOO_PROBE`, a filter that nothing passes on a server that knows the field.
 * Source: yellowstone-grpc-geyser/src/plugin/filter/filter.rs, `FilterTransactions`.
 */
export function subscribeRequest(subscription: ChainSubscription): SubscribeRequest {
  const { accounts, fromSlot, payments = [], addressesPerFilter } = subscription
  return {
    ...NO_FILTERS,
    transactions: {
      ...walletFilters(subscription),
      ...filtersOf(PAYMENTS, payments, addressesPerFilter ?? payments.length, transactionFilter),
    },
    accounts: accounts.length === 0 ? {} : { accounts: accountFilter(accounts) },
    blocksMeta: { metas: {} },
    slots: EVERY_SLOT,
    commitment: CONFIRMED,
    ...(fromSlot === null ? {} : { fromSlot: String(fromSlot) }),
  }
}

/** The request for updates of these accounts and every `confirmed` status, at `confirmed`. */
export function accountsRequest(
  accounts: readonly Address[],
  addressesPerFilter = accounts.length,
): SubscribeRequest {
  return {
    ...NO_FILTERS,
    accounts: filtersOf('accounts', accounts, addressesPerFilter, accountFilter),
    slots: EVERY_SLOT,
    commitment: CONFIRMED,
  }
}

/** The request for every block meta at `finalized` (rule K9). Statuses of slots have no hash. */
export function finalizedRequest(fromSlot: number | null): SubscribeRequest {
  return {
    ...NO_FILTERS,
    blocksMeta: { metas: {} },
    commitment: FINALIZED,
    ...(fromSlot === null ? {} : { fromSlot: String(fromSlot) }),
  }
}

/**
 * Splits addresses into filters of `perFilter`. Without addresses there is no filter, because an
 * empty one matches everything.
 */
function filtersOf<F>(
  name: string,
  addresses: readonly Address[],
  perFilter: number,
  filterOf: (addresses: readonly Address[]) => F,
): Record<string, F> {
  const filters: Record<string, F> = {}
  for (let at = 0; at < addresses.length; at += perFilter)
    filters[`${name}-${at / perFilter + 1}`] = filterOf(addresses.slice(at, at + perFilter))
  return filters
}

function walletFilters(subscription: ChainSubscription): SubscribeRequest['transactions'] {
  const { wallets, selection = 'list', addressesPerFilter = wallets.size } = subscription
  if (wallets.size === 0) return {}
  if (selection === 'whole') {
    const notVotes = { accountInclude: [], accountExclude: [], accountRequired: [], vote: false }
    return { wallets: notVotes }
  }
  if (selection === 'cuckoo') {
    return {
      wallets: { ...transactionFilter([]), cuckooAccountInclude: cuckooFilterOf(wallets) },
      [CUCKOO_PROBE]: { ...transactionFilter([]), cuckooAccountInclude: emptyCuckooFilter() },
    }
  }
  const addresses = Array.from({ length: wallets.size }, (_, at) => wallets.addressOf(at + 1))
  return filtersOf('wallets', addresses, addressesPerFilter, transactionFilter)
}

/** A filter for transactions that name an address or change a token balance that it owns. */
function transactionFilter(addresses: readonly Address[]) {
  return {
    accountInclude: [...addresses],
    accountExclude: [],
    accountRequired: [],
    tokenAccounts: BALANCE_CHANGED,
  }
}

/** A filter for updates of the accounts. */
function accountFilter(accounts: readonly Address[]) {
  return { account: [...accounts], owner: [], filters: [] }
}

/** The request for every block meta at `confirmed`. */
export function confirmedBlocksRequest(): SubscribeRequest {
  return { ...NO_FILTERS, blocksMeta: { metas: {} }, commitment: CONFIRMED }
}

/** Whether a request is for block metas at `confirmed`, with or without transactions. */
export function hasConfirmedBlocks({ commitment, blocksMeta }: SubscribeRequest): boolean {
  return commitment === CONFIRMED && Object.keys(blocksMeta).length > 0
}

/** A ping. It does not change the filters. Servers close streams of clients that send nothing. */
export function pingRequest(id: number): SubscribeRequest {
  return { ...NO_FILTERS, ping: { id } }
}

/** Name of the filter by which a server shows that it does not know cuckoo filters. */
export const CUCKOO_PROBE = 'cuckoo-probe'
/** How the names of the filters of payments begin. */
export const PAYMENTS = 'payments'

const NO_FILTERS: SubscribeRequest = {
  transactions: {},
  accounts: {},
  blocksMeta: {},
  slots: {},
  transactionsStatus: {},
  blocks: {},
  entry: {},
  accountsDataSlice: [],
}
const EVERY_SLOT: SubscribeRequest['slots'] = { slots: { filterByCommitment: true } }

/** `CommitmentLevel.CONFIRMED`. */
const CONFIRMED = 1
/** `CommitmentLevel.FINALIZED`. */
const FINALIZED = 2
/** `TokenAccountExpansionControlFlag.BALANCE_CHANGED`. */
const BALANCE_CHANGED = 1
