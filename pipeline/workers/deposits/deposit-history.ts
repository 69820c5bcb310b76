import type { Address } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { HistoryRpc, SignatureInfo, SolanaRpc } from '../../ingest/rpc/solana-rpc.ts'

/** Position up to which the finalized history of an account was read, `slot` included. */
export interface DepositPosition {
  readonly slot: number
  /** The newest transaction of the account up to `slot`; empty when there is none. */
  readonly signature: string
}

/** The part of an account's history that was read. */
export interface AccountHistory {
  readonly position: DepositPosition
  /** Signatures beyond the position that were processed. */
  readonly processed: ReadonlySet<string>
}

/** The history of an account that was never read. */
export const UNREAD_HISTORY: AccountHistory = {
  position: { slot: 0, signature: '' },
  processed: new Set(),
}

/**
 * Reads the finalized history of an account beyond `known`, newest first, and returns what is then
 * known. `onPage` receives, page by page, the transactions that were not processed yet. The
 * position moves to about 150 slots before slot `at`, which must be finalized.
 *
 * A response does not say whether it is complete. A server that lacks the transaction `before`
 * lists nothing, and one that was restarted lists only down to its oldest block. So servers that
 * are behind are refused (`minContextSlot`), and the list must reach the known position. Otherwise
 * this rejects with a retriable `unavailable`, and `known` stays valid.
 */
export async function readDepositHistory(
  rpc: Pick<HistoryRpc & SolanaRpc, 'getSignaturesForAddress' | 'getTransaction' | 'getBlocks'>,
  address: Address,
  known: AccountHistory,
  at: number,
  onPage: (infos: readonly SignatureInfo[]) => Promise<void>,
): Promise<AccountHistory> {
  const { position, processed } = known
  const slot = Math.max(position.slot, at - OVERLAP_SLOTS)
  const recent = new Set<string>()
  let signature = ''
  let before: string | undefined
  let minContextSlot = slot
  // After the first reading most lists are short.
  let limit = position.slot === 0 ? PAGE : Math.min(PAGE, processed.size + EXPECTED)
  for (;;) {
    const page = await rpc.getSignaturesForAddress(address, {
      limit,
      before,
      minContextSlot,
      commitment: 'finalized',
    })
    const end = page.findIndex((info) => info.slot <= position.slot)
    const beyond = end === -1 ? page : page.slice(0, end)
    await onPage(beyond.filter((info) => !processed.has(info.signature)))
    for (const info of beyond) {
      if (info.slot > slot) recent.add(info.signature)
      else if (signature === '') signature = info.signature
    }
    if (end !== -1) break
    if (page.length < limit) {
      await requireReach(rpc, position)
      break
    }
    // The next page must come from a server that also has this page.
    minContextSlot = Math.max(minContextSlot, page[0]?.slot ?? 0)
    before = page.at(-1)?.signature
    limit = PAGE
  }
  return {
    position: { slot, signature: signature === '' ? position.signature : signature },
    processed: recent,
  }
}

/**
 * Checks a list that ended above the position; rejects with `unavailable` when it may be
 * incomplete. It is complete when the server does not have the position's transaction any more, but
 * has blocks at the position: then everything later is listed. Without a transaction at the
 * position, blocks within the overlap after it suffice, because the chain or the server may have
 * begun there.
 */
async function requireReach(
  rpc: Pick<HistoryRpc & SolanaRpc, 'getTransaction' | 'getBlocks'>,
  { slot, signature }: DepositPosition,
): Promise<void> {
  if (slot === 0) return
  const isListed = signature !== '' && (await rpc.getTransaction(signature)) !== null
  const last = signature === '' ? slot + OVERLAP_SLOTS : slot
  if (!isListed && (await rpc.getBlocks(Math.max(0, slot - SOME_SLOTS), last)).length > 0) return
  throw new ServiceError(
    'unavailable',
    'SOLANA_RPC_URL: the server does not list the whole history of a payment account',
  )
}

const PAGE = 1000
/** Number of new transactions of an account that the first request leaves room for. */
const EXPECTED = 100
/**
 * Newest slots that are listed again each time, about a minute: servers may list transactions out
 * of order.
 */
export const OVERLAP_SLOTS = 150
/** Some of which have a block. */
const SOME_SLOTS = 100
