import { insertRows } from '../insert-rows.ts'
import type { Store } from '../store.ts'
import { SNAPSHOT_SLOTS } from './balance-snapshots.ts'
import { BREAK_COUNTS } from './chain-breaks.ts'
import { NEWEST_SOL_LINKS } from './links.ts'

/** Stores that wallets were compared with the chain at a finalized slot, without a difference. */
export async function insertVerifications(
  store: Store,
  wallets: readonly number[],
  at: { readonly slot: number; readonly blockTime: number },
): Promise<void> {
  const rows = wallets.map((wallet) => ({ wallet, slot: at.slot, block_time: at.blockTime }))
  await insertRows(store, 'wallet_verifications', rows)
}

/**
 * Subquery: through which slot each wallet is verified (rule K8), and its breaks. A wallet without
 * a snapshot has slot 0: it is not verified.
 */
export const VERIFIED = `
  SELECT wallet, open_breaks, unexplained_breaks,
    greatest(newest_slot, compared.slot) AS newest,
    if(opened.slot = 0, 0, if(first_break_slot > 0, least(newest, first_break_slot), newest)) AS verified_through_slot
  FROM (${SNAPSHOT_SLOTS}) AS opened
  LEFT JOIN (${NEWEST_SOL_LINKS}) AS links USING wallet
  LEFT JOIN (SELECT wallet, slot FROM wallet_verifications FINAL) AS compared USING wallet
  LEFT JOIN (${BREAK_COUNTS}) AS breaks USING wallet`
