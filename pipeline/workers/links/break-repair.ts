import { LRUCache } from 'lru-cache'
import type { Address } from '../../domain/address.ts'
import { isQuoteMint } from '../../domain/quote.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import type { HistoryRpc, SignatureInfo } from '../../ingest/rpc/solana-rpc.ts'
import type { LateOrigin } from '../../log/log-message.ts'
import type { Store } from '../../store/store.ts'
import { readSnapshotSlots } from '../../store/tables/balance-snapshots.ts'
import {
  type ChainBreak,
  NOT_TRADED,
  type RepairEnd,
  storeRepair,
} from '../../store/tables/chain-breaks.ts'
import { comparePlaces } from '../../store/tables/links.ts'
import { hasTraded } from '../../store/tables/swaps.ts'
import {
  createWalletDecoder,
  type FetchDeps,
  fetchTransaction,
} from '../backfill/fetch-transaction.ts'
import { mapConcurrently } from '../backfill/map-concurrently.ts'
import { type AppendDeps, appendFetched } from '../backfill/page-writer.ts'
import { knownCause } from './known-cause.ts'
import { listStretch } from './list-stretch.ts'

/** Dependencies of a repair. */
export interface BreakRepairDeps extends FetchDeps, AppendDeps {
  readonly rpc: HistoryRpc
  /** Waits while the server is down. */
  readonly store: Store
  /** The newest slot that is on the log; null before the first. */
  readonly newest: () => { readonly slot: number; readonly blockTime: number } | null
  /** Seconds for which a feed client may resume (`FEED_RETENTION_HOURS`). */
  readonly feedSeconds: number
  /** Milliseconds of the wall clock. */
  readonly now: () => number
}

/** What a repair did: appended transactions, found none, or asked nothing. */
export type RepairOutcome = 'found' | 'nothing' | 'not_traded'

/** RPC is asked this often before a break is unexplained: a server may lag behind. */
const MAX_TRIES = 3
const TRANSACTIONS_PER_TRY = 200
const REQUESTS_AT_ONCE = 4
/** Transactions remembered as appended, so that two accounts of one do not append it twice. */
const MAX_REMEMBERED = 50_000

/**
 * Fetches what is missing in a break over RPC, for exactly its account and stretch, and appends it
 * to the log (rule K8).
 */
export class BreakRepair {
  readonly #deps: BreakRepairDeps
  readonly #appended = new LRUCache<string, true>({ max: MAX_REMEMBERED })

  constructor(deps: BreakRepairDeps) {
    this.#deps = deps
  }

  /**
   * Tries to repair an open break of the wallet with this address. Stores the try if RPC has
   * nothing, and that it is unexplained after the last one, or accepted if its cause is known.
   * Rejects with `unavailable` when RPC does not answer, with `StoppedError` after `stop`.
   */
  async repair(found: ChainBreak, wallet: Address, stop: AbortSignal): Promise<RepairOutcome> {
    if (!(await this.#isTraded(found))) {
      await this.#end(found, { state: 'unexplained', cause: NOT_TRADED, tries: found.tries })
      return 'not_traded'
    }
    const records = await this.#fetch(found, wallet, stop)
    if (records.length === 0) {
      await this.#foundNothing(found)
      return 'nothing'
    }
    const snapshots = await readSnapshotSlots(this.#deps.store, [found.wallet])
    const since = snapshots.get(found.wallet) ?? Number.POSITIVE_INFINITY
    for (const origin of ['stream', 'backfill'] as const)
      await appendFetched(
        records.filter((record) => this.#originOf(record, since) === origin),
        origin,
        this.#deps,
      )
    return 'found'
  }

  /** Returns the records of transactions between the two links that are not stored. */
  async #fetch(
    found: ChainBreak,
    wallet: Address,
    stop: AbortSignal,
  ): Promise<readonly WalletRecord[]> {
    const address = found.account === '' ? wallet : (found.account as Address) // was validated
    const listed = await listStretch(this.#deps.rpc, address, found)
    const wanted = listed.filter(
      (info) => (found.account === '' || !info.failed) && !this.#wasAppended(found, info),
    )
    const decoder = createWalletDecoder(found.wallet, wallet, this.#deps.programs)
    const some = wanted.slice(0, TRANSACTIONS_PER_TRY)
    const fetched = await mapConcurrently(some, REQUESTS_AT_ONCE, (info) =>
      fetchTransaction(info, decoder, this.#deps, stop),
    )
    return fetched.flatMap((transaction, at) => {
      const records = transaction?.records ?? []
      if (!records.some((record) => isMissing(record, found))) return []
      this.#appended.set(`${found.wallet}/${some[at]?.signature}`, true)
      return records
    })
  }

  #wasAppended({ wallet, tries }: ChainBreak, { signature }: SignatureInfo): boolean {
    // A later try appends it again: the first one may have been lost.
    return tries === 0 && this.#appended.has(`${wallet}/${signature}`)
  }

  async #isTraded({ wallet, account, mint }: ChainBreak): Promise<boolean> {
    return account === '' || isQuoteMint(mint) || hasTraded(this.#deps.store, wallet, mint)
  }

  async #foundNothing(found: ChainBreak): Promise<void> {
    const tries = found.tries + 1
    const cause = knownCause(found)
    if (tries < MAX_TRIES) await this.#end(found, { state: 'open', cause: '', tries })
    else if (cause !== null) await this.#end(found, { state: 'accepted', cause, tries })
    else await this.#end(found, { state: 'unexplained', cause: '', tries })
  }

  #end(found: ChainBreak, ended: Omit<RepairEnd, 'changedAt'>): Promise<void> {
    const changedAt = Math.floor(this.#deps.now() / 1000)
    return storeRepair(this.#deps.store, found, { ...ended, changedAt })
  }

  /**
   * `stream`, so that sockets receive it late, if the live edge passed it not longer ago than
   * clients may resume. `since`: slot from which the wallet is followed.
   */
  #originOf({ slot, blockTime }: WalletRecord, since: number): LateOrigin {
    const newest = this.#deps.newest()
    const isPassed = newest !== null && slot > since && slot <= newest.slot
    return isPassed && blockTime >= newest.blockTime - this.#deps.feedSeconds
      ? 'stream'
      : 'backfill'
  }
}

/** Whether a record is a link of the account that lies between the two links of a break. */
function isMissing(record: WalletRecord, found: ChainBreak): boolean {
  const isOfAccount =
    found.account === ''
      ? record.kind === 'balance'
      : record.kind === 'token_link' && record.account === found.account
  return isOfAccount && comparePlaces(record, found.from) > 0 && comparePlaces(record, found) < 0
}
