import { encodeBase58 } from '../../../pipeline/domain/base58.ts'
import type {
  BalanceRecord,
  TokenAccountLink,
  WalletEvent,
} from '../../../pipeline/domain/event.ts'
import type { DecodedRecord } from '../../../pipeline/domain/slot.ts'
import type { Key } from './key.ts'
import type { MarketAction } from './scene.ts'
import type { Signatures } from './signature.ts'
import { blockTimeOf } from './slot-time.ts'
import { applyDraft, type Balances, type PlacedSlot, tokenAmounts } from './slot-transactions.ts'
import type { Draft, DraftBalance } from './transaction-builder.ts'
import { inEventOrder } from './truth.ts'
import type { Universe, Wallet } from './universe.ts'

/** The records that a decoder must find in a slot, without USD prices. */
export interface SlotTruth {
  /**
   * Events and links by transaction, wallet, event. The balance of a wallet follows its events in
   * the same transaction, then come the links of its token accounts by address.
   */
  readonly records: readonly DecodedRecord[]
  readonly events: readonly WalletEvent[]
  readonly balances: readonly BalanceRecord[]
  readonly links: readonly TokenAccountLink[]
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
    const before = new Map(balances)
    applyDraft(balances, action.draft)
    const signature = encodeBase58(signatures.of(slot, index))
    const fields = { slot, txIndex: index, blockTime: blockTimeOf(slot), signature }
    records.push(...recordsOf(universe, action, fields, { before, after: balances }))
  })
  return {
    transactions,
    records,
    events: records.filter((record) => 'eventIndex' in record),
    balances: records.filter((record) => record.kind === 'balance'),
    links: records.filter((record) => record.kind === 'token_link'),
  }
}

interface TransactionFields {
  readonly slot: number
  readonly txIndex: number
  readonly blockTime: number
  readonly signature: string
}

/** Balances before and after a transaction. */
interface Around {
  readonly before: Balances
  readonly after: Balances
}

/** The records of a transaction, wallet by wallet. */
function recordsOf(
  universe: Universe,
  { draft, intents }: MarketAction,
  fields: TransactionFields,
  around: Around,
): DecodedRecord[] {
  const { slot, txIndex, blockTime, signature } = fields
  const recordFields = { slot, txIndex, blockTime }
  const named = new Set(draft.keys.flatMap((key) => walletOf(universe, key)?.number ?? []))
  const tracked = intents.filter((intent) => intent.wallet > 0)
  const links = tokenLinksOf(universe, draft, recordFields, around).filter(
    (link) => named.has(link.wallet) || link.before !== link.after,
  )
  const wallets = new Set([...[...tracked, ...links].map(({ wallet }) => wallet), ...named])
  return [...wallets]
    .sort((a, b) => a - b)
    .flatMap((wallet): DecodedRecord[] => [
      ...inEventOrder(tracked.filter((intent) => intent.wallet === wallet)).map(
        (intent, eventIndex) => ({ ...intent, ...recordFields, signature, eventIndex }),
      ),
      ...draft.keys.flatMap((key): BalanceRecord[] => {
        const lamports = around.after.get(key.id)
        if (lamports === undefined || walletOf(universe, key)?.number !== wallet) return []
        const lamportsBefore = around.before.get(key.id) ?? null
        return [{ kind: 'balance', ...recordFields, wallet, lamports, lamportsBefore }]
      }),
      ...links.filter((link) => link.wallet === wallet),
    ])
}

/** What the token accounts of tracked wallets held around a transaction, by address (rule K8). */
function tokenLinksOf(
  universe: Universe,
  draft: Draft,
  recordFields: Pick<TokenAccountLink, 'slot' | 'txIndex' | 'blockTime'>,
  { before, after }: Around,
): TokenAccountLink[] {
  const ids = new Set([...draft.preTokens, ...draft.postTokens].map(({ account }) => account))
  const links = [...ids].flatMap((account): TokenAccountLink[] => {
    const { id, address } = draft.keys[account]!
    const ofAccount = (held: DraftBalance) => held.account === account
    const pre = draft.preTokens.find(ofAccount)?.token
    const post = draft.postTokens.find(ofAccount)?.token
    const { owner, mint } = (post ?? pre)!
    const wallet = walletOf(universe, owner)?.number
    if (wallet === undefined) return []
    const amounts = {
      before: before.get(id) ?? pre?.amount ?? 0n,
      after: after.get(id) ?? post?.amount ?? 0n,
    }
    const link = { ...recordFields, wallet, account: address, mint: mint.key.address, ...amounts }
    return [{ kind: 'token_link', ...link }]
  })
  return links.sort((a, b) => (a.account < b.account ? -1 : 1))
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
