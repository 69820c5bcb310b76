import type { Address } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { HistoryRpc, SignatureInfo, SolanaRpc } from '../../ingest/rpc/solana-rpc.ts'

/** How far the finalized history of an account was read: every transaction of it up to `slot`, that one too. */
export interface DepositPosition {
  readonly slot: number
  /** The newest transaction of the account up to there; empty: it has none. */
  readonly signature: string
}

/** What is known of an account's history. */
export interface ReadHistory {
  readonly position: DepositPosition
  /** Signatures beyond the position that were looked at. */
  readonly looked: ReadonlySet<string>
}

/** Before the first transaction of an account. */
export const UNREAD: ReadHistory = { position: { slot: 0, signature: '' }, looked: new Set() }

/**
 * Reads the finalized history of an account beyond what is known, newest first; `look` gets what has not been looked at, page by page. Gives what is known afterwards: the
 * position moves up to some 150 slots before slot `at`, which was finalized before.
 *
 * Nothing in an answer says that it is not whole. A server that lacks the transaction `before` lists nothing, and one that was restarted lists down to its oldest block. So a
 * server that is behind is not believed, and the list must reach what was read before; else this rejects with a retriable `unavailable`, and what is known stays as it was.
 */
export async function readDepositHistory(
  rpc: Pick<HistoryRpc & SolanaRpc, 'getSignaturesForAddress' | 'getTransaction' | 'getBlocks'>,
  address: Address,
  known: ReadHistory,
  at: number,
  look: (infos: readonly SignatureInfo[]) => Promise<void>,
): Promise<ReadHistory> {
  const { position, looked } = known
  const slot = Math.max(position.slot, at - OVERLAP_SLOTS)
  const recent = new Set<string>()
  let signature = ''
  let before: string | undefined
  let minContextSlot = slot
  // Most lists are short once they were read.
  let limit = position.slot === 0 ? PAGE : Math.min(PAGE, looked.size + EXPECTED)
  for (;;) {
    const page = await rpc.getSignaturesForAddress(address, {
      limit,
      before,
      minContextSlot,
      commitment: 'finalized',
    })
    const end = page.findIndex((info) => info.slot <= position.slot)
    const beyond = end === -1 ? page : page.slice(0, end)
    await look(beyond.filter((info) => !looked.has(info.signature)))
    for (const info of beyond) {
      if (info.slot > slot) recent.add(info.signature)
      else if (signature === '') signature = info.signature
    }
    if (end !== -1) break
    if (page.length < limit) {
      await requireReach(rpc, position)
      break
    }
    // The next page comes from a server that has this one too.
    minContextSlot = Math.max(minContextSlot, page[0]?.slot ?? 0)
    before = page.at(-1)?.signature
    limit = PAGE
  }
  return {
    position: { slot, signature: signature === '' ? position.signature : signature },
    looked: recent,
  }
}

/**
 * A list ended above the position. That is as it should be when the account has no older transaction, or the server has forgotten it, and the server still has the blocks
 * from the position on. Of an account that had no transaction they may begin where its history was read first: the chain, or that server, may have begun there.
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
    { retriable: true },
  )
}

const PAGE = 1000
/** How many new transactions of an account are no surprise. */
const EXPECTED = 100
/** About a minute: a server may list a transaction later than one after it, so the last stretch is listed again each time. */
export const OVERLAP_SLOTS = 150
/** Some of which have a block. */
const SOME_SLOTS = 100
