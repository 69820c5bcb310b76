import { REGISTRY } from '../../decode/registry.ts'
import type { Address } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { Holdings, HoldingsRpc } from '../../ingest/rpc/holdings.ts'
import type { HistoryRpc } from '../../ingest/rpc/solana-rpc.ts'
import { normalizeRpc } from '../../ingest/wire/normalize-rpc.ts'
import { pause } from '../../runtime/pause.ts'
import type { Store } from '../../store/store.ts'
import {
  type BalanceSnapshot,
  insertSnapshots,
  readSnapshotSlots,
} from '../../store/tables/balance-snapshots.ts'
import { type LastBalance, readLastBalances } from '../../store/tables/links.ts'
import { readStorageMarker } from '../../store/tables/progress.ts'
import { readUnbookedChanges, type UnbookedChange } from '../../store/tables/unbooked-changes.ts'
import { insertVerifications } from '../../store/tables/wallet-verifications.ts'

/** Dependencies of a comparison with the chain. */
export interface ReconcileDeps {
  readonly store: Store
  readonly rpc: HoldingsRpc &
    Pick<HistoryRpc, 'getBlockSignatures' | 'getTransaction' | 'getBlockTime'>
  readonly stop: AbortSignal
}

/** A difference, with its explanation. Amounts are lamports, or raw units. */
export interface ReconcileDifference {
  /** '' for SOL. */
  readonly mint: string
  /** Slot of the last link; for a difference of events, of the transaction. */
  readonly slot: number
  /** What the chain has more than the links; or the balances of a transaction than its events. */
  readonly amount: bigint
  /**
   * `missing`: something after the last link is not stored; the repair fetches it. `nft`, `order`:
   * rules B8a and B2a. `undecoded`: rule K7. `unexplained`: none of these.
   */
  readonly cause: 'missing' | 'nft' | 'order' | 'undecoded' | 'unexplained'
}

/** The comparison of one wallet with the chain. */
export interface Reconciliation {
  readonly wallet: number
  /** The finalized slot of the comparison. */
  readonly slot: number
  /** Number of accounts that were compared. */
  readonly accounts: number
  /** False without a snapshot: accounts without links are then not compared, nor are events. */
  readonly isOpened: boolean
  readonly differences: readonly ReconcileDifference[]
}

const STORED_WITHIN_MS = 60_000
const MAX_CHANGES = 10_000

/**
 * Compares what a wallet holds on chain, as of a finalized slot, with the last link of each of its
 * accounts, and the balance changes of base mints with its events (rule K8).
 *
 * What an account holds on chain is stored as a snapshot where it differs, so that the check opens
 * a break and the repair fetches what is missing. A wallet without such a difference is stored as
 * verified. Rejects with `unavailable` when RPC does not answer, or storage does not reach the
 * slot.
 */
export async function reconcileWallet(
  wallet: number,
  address: Address,
  deps: ReconcileDeps,
): Promise<Reconciliation> {
  const { store, rpc } = deps
  const holdings = await rpc.getHoldings(address, { commitment: 'finalized' })
  const { slot } = holdings
  await untilStored(slot, deps)
  const opened = (await readSnapshotSlots(store, [wallet])).get(wallet)
  const isOpened = opened !== undefined && opened <= slot
  const last = await readLastBalances(store, wallet, slot)
  const wrong = compareBalances(wallet, holdings, last, isOpened)
  await insertSnapshots(
    store,
    wrong.map(({ snapshot }) => snapshot),
  )
  const changes = isOpened
    ? await readUnbookedChanges(store, wallet, { from: opened, to: slot, limit: MAX_CHANGES })
    : []
  const differences: ReconcileDifference[] = wrong.map(({ difference }) => difference)
  for (const change of changes)
    differences.push({
      mint: change.mint,
      slot: change.slot,
      amount: change.amount,
      cause: await causeOf(change, deps),
    })
  if (isOpened && wrong.length === 0) {
    const blockTime = await rpc.getBlockTime(slot)
    if (blockTime !== null) await insertVerifications(store, [wallet], { slot, blockTime })
  }
  return { wallet, slot, accounts: last.length, isOpened, differences }
}

/** Waits until everything up to a slot is stored. */
async function untilStored(slot: number, { store, stop }: ReconcileDeps): Promise<void> {
  for (const deadline = Date.now() + STORED_WITHIN_MS; ; await pause(200, stop)) {
    if (stop.aborted) throw new ServiceError('closed', 'stopped; run the same command again')
    if (((await readStorageMarker(store))?.slot ?? 0) >= slot) return
    if (Date.now() > deadline)
      throw new ServiceError('unavailable', 'storage is too far behind the finalized slot', {
        retriable: true,
      })
  }
}

/** Compares the last balance of each account with what it holds on chain; pure. */
export function compareBalances(
  wallet: number,
  { slot, lamports, tokens }: Holdings,
  last: readonly LastBalance[],
  isOpened: boolean,
): { readonly snapshot: BalanceSnapshot; readonly difference: ReconcileDifference }[] {
  const known = new Map(last.map((found) => [found.account, found]))
  const onChain = new Map<string, { mint: string; amount: bigint }>([
    ['', { mint: '', amount: lamports }],
    ...tokens.map(({ account, mint, amount }) => [account, { mint, amount }] as const),
  ])
  const accounts = new Set([...known.keys(), ...onChain.keys()])
  return [...accounts].flatMap((account) => {
    const link = known.get(account)
    // Without a snapshot nothing is known of an account that has no link.
    if (link === undefined && !isOpened) return []
    const mint = onChain.get(account)?.mint ?? link?.mint ?? ''
    const amount = onChain.get(account)?.amount ?? 0n // an account that does not exist
    const expected = link?.amount ?? 0n
    if (amount === expected) return []
    return [
      {
        snapshot: { wallet, account, mint, slot, amount },
        difference: {
          mint,
          slot: link?.slot ?? 0,
          amount: amount - expected,
          cause: 'missing' as const,
        },
      },
    ]
  })
}

async function causeOf(
  { amount, isUndecoded, ...place }: UnbookedChange,
  deps: ReconcileDeps,
): Promise<ReconcileDifference['cause']> {
  if (isUndecoded) return 'undecoded'
  if (amount === 1n || amount === -1n) return 'nft'
  return (await callsOrderProgram(place, deps)) ? 'order' : 'unexplained'
}

/** Whether a transaction names an order program, which holds tokens in escrow (rule B2a). */
async function callsOrderProgram(
  { slot, txIndex: index }: Pick<UnbookedChange, 'slot' | 'txIndex'>,
  { rpc }: ReconcileDeps,
): Promise<boolean> {
  const block = await rpc.getBlockSignatures(slot)
  const signature = typeof block === 'string' ? undefined : block.signatures[index]
  if (signature === undefined) return false
  const tx = normalizeRpc(await rpc.getTransaction(signature), { slot, index })
  return (
    tx.kind === 'transaction' &&
    tx.accountKeys.some((key) => REGISTRY.programOf(key)?.kind === 'order')
  )
}
