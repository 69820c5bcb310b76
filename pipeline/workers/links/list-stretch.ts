import type { Address } from '../../domain/address.ts'
import type { HistoryRpc, SignatureInfo } from '../../ingest/rpc/solana-rpc.ts'
import { SNAPSHOT_TX_INDEX } from '../../store/tables/balance-snapshots.ts'
import type { ChainBreak } from '../../store/tables/chain-breaks.ts'

const PAGE = 1000
/** Pages of one listing: a stretch with more transactions is repaired in several tries. */
const MAX_PAGES = 5

/**
 * Lists the transactions that name an account from the slot of one link of a break to that of the
 * other, newest first. Starts at the newest transaction of the account, or, when the break is more
 * than a page back, at its later link. Rejects as `HistoryRpc` does.
 */
export async function listStretch(
  rpc: Pick<HistoryRpc, 'getSignaturesForAddress' | 'getBlockSignatures'>,
  address: Address,
  { slot, txIndex, from }: Pick<ChainBreak, 'slot' | 'txIndex' | 'from'>,
): Promise<SignatureInfo[]> {
  const found: SignatureInfo[] = []
  let before: string | undefined
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await rpc.getSignaturesForAddress(address, {
      limit: PAGE,
      before,
      minContextSlot: slot,
    })
    found.push(...page.filter((info) => info.slot >= from.slot && info.slot <= slot))
    const oldest = page.at(-1)
    if (oldest === undefined || page.length < PAGE || oldest.slot < from.slot) break
    const later = pages === 0 && oldest.slot > slot ? await signatureAt(rpc, slot, txIndex) : null
    before = later ?? oldest.signature
  }
  return found
}

/** The signature of a transaction by its place; of the last one for a snapshot; null if unknown. */
async function signatureAt(
  rpc: Pick<HistoryRpc, 'getBlockSignatures'>,
  slot: number,
  txIndex: number,
): Promise<string | null> {
  const block = await rpc.getBlockSignatures(slot)
  if (typeof block === 'string') return null
  const { signatures } = block
  return signatures.at(txIndex === SNAPSHOT_TX_INDEX ? -1 : txIndex) ?? null
}
