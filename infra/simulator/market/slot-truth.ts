import { encodeBase58 } from '../../../pipeline/domain/base58.ts'
import type { BalanceRecord, WalletEvent } from '../../../pipeline/domain/event.ts'
import type { DecodedRecord } from '../../../pipeline/domain/slot.ts'
import type { Key } from './key.ts'
import type { MarketAction } from './scene.ts'
import type { Signatures } from './signature.ts'
import { blockTimeOf } from './slot-time.ts'
import { applyDraft, type Balances, type PlacedSlot, tokenAmounts } from './slot-transactions.ts'
import type { Draft } from './transaction-builder.ts'
import { inEventOrder } from './truth.ts'
import type { Universe, Wallet } from './universe.ts'

/** The records that a decoder must find in a slot, without USD prices. */
export interface SlotTruth {
  /**
   * Events and balances by transaction, wallet, event. The balance of a wallet follows its events
   * in the same transaction.
   */
  readonly records: readonly DecodedRecord[]
  readonly events: readonly WalletEvent[]
  readonly balances: readonly BalanceRecord[]
  /**
   * Indexes of the transactions that name a tracked wallet or change a balance of its token
   * accounts: those that a subscription by wallet must bring. Some leave no record, for example
   * incoming USDC.
   */
  readonly transactions: readonly number[]
}

/**
 * Returns the expected records of a slot, from its actions and the balances before it. Updates
 * `balances`.
 */
export function truthOf(
  universe: Universe,
  signatures: Signatures,
  slot: number,
  { actions, balances }: PlacedSlot,
): SlotTruth {
  const records: DecodedRecord[] = []
  const transactions: number[] = []
  actions.forEach((placed, index) => {
    // An action without a desk is a swap of an untracked wallet.
    if (placed.desk === undefined) return
    const action = placed.action()
    if (concernsWallet(universe, action.draft)) transactions.push(index)
    applyDraft(balances, action.draft)
    const signature = encodeBase58(signatures.of(slot, index))
    const place = { slot, txIndex: index, blockTime: blockTimeOf(slot), signature }
    records.push(...recordsOf(universe, action, place, balances))
  })
  return {
    transactions,
    records,
    events: records.filter((record) => record.kind !== 'balance' && record.kind !== 'undecoded'),
    balances: records.filter((record) => record.kind === 'balance'),
  }
}

interface TransactionPlace {
  readonly slot: number
  readonly txIndex: number
  readonly blockTime: number
  readonly signature: string
}

/** The records of a transaction, wallet by wallet. `balances` are those after it. */
function recordsOf(
  universe: Universe,
  action: MarketAction,
  place: TransactionPlace,
  balances: Balances,
): DecodedRecord[] {
  const lamportsByWallet = new Map<number, bigint>()
  for (const key of action.draft.keys) {
    const lamports = balances.get(key.id)
    const wallet = lamports === undefined ? undefined : walletOf(universe, key)
    if (lamports !== undefined && wallet !== undefined)
      lamportsByWallet.set(wallet.number, lamports)
  }
  const tracked = action.intents.filter((intent) => intent.wallet > 0)
  const wallets = new Set([...tracked.map((intent) => intent.wallet), ...lamportsByWallet.keys()])
  return [...wallets]
    .sort((a, b) => a - b)
    .flatMap((wallet): DecodedRecord[] => {
      const own = inEventOrder(tracked.filter((intent) => intent.wallet === wallet))
      const events = own.map((intent, eventIndex) => ({ ...intent, ...place, eventIndex }))
      const lamports = lamportsByWallet.get(wallet)
      if (lamports === undefined) return events
      const { slot, txIndex, blockTime } = place
      return [...events, { kind: 'balance', slot, txIndex, wallet, blockTime, lamports }]
    })
}

/** Whether a transaction names a tracked wallet or changes a balance of its token accounts. */
function concernsWallet(universe: Universe, draft: Draft): boolean {
  if (draft.keys.some((key) => walletOf(universe, key) !== undefined)) return true
  const before = tokenAmounts(draft, draft.preTokens)
  const after = tokenAmounts(draft, draft.postTokens)
  return [...draft.preTokens, ...draft.postTokens].some(({ account, token }) => {
    const { id } = draft.keys[account]!
    return walletOf(universe, token.owner) !== undefined && before.get(id) !== after.get(id)
  })
}

function walletOf({ walletsById }: Universe, key: Key): Wallet | undefined {
  return walletsById.get(key.id)
}
