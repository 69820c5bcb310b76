import { addressFromBytes } from '../../../pipeline/domain/address.ts'
import { WSOL } from '../../../pipeline/domain/quote.ts'
import type { FoldEvent } from '../../../pipeline/fold/fold-event.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { addTrackedWallets } from '../../../pipeline/store/tables/tracked-wallets.ts'

/**
 * A history that the database generates: `eventsPerWallet` swaps of each wallet, over `TOKENS`
 * tokens. Each token in turn is bought three times and sold twice.
 */
export interface StoredHistory {
  readonly wallets: number
  readonly eventsPerWallet: number
}

const TOKENS = 20
const FIRST_SLOT = 300_000_000
const FIRST_TIME = 1_600_000_000
const ROWS_PER_INSERT = 1_000_000

/** The slot after the last of a history. */
export function endOf({ wallets, eventsPerWallet }: StoredHistory): number {
  return FIRST_SLOT + Math.ceil((wallets * eventsPerWallet) / 10)
}

/** The `n`-th event of a wallet, as it is stored: the same formula as in `storeHistory`. */
export function historyEvent({ wallets }: StoredHistory, wallet: number, n: number): FoldEvent {
  const number = n * wallets + wallet - 1
  const slot = FIRST_SLOT + Math.floor(number / 10)
  const value = BigInt(1_000_000 + ((number * 104_729) % 999_999_937))
  return {
    slot,
    txIndex: number % 10,
    eventIndex: 0,
    blockTime: FIRST_TIME + Math.floor(number / 20),
    kind: n % 5 < 3 ? 'buy' : 'sell',
    mint: `mint${Math.floor(n / 5) % TOKENS}`,
    decimals: 6,
    amount: BigInt(1_000_000 + ((number * 7919) % 999_983)),
    value,
    solPriceUsdE9: null,
  }
}

/** Stores the wallets and their history. */
export async function storeHistory(store: Store, history: StoredHistory): Promise<void> {
  const { wallets, eventsPerWallet } = history
  const addresses = Array.from({ length: wallets }, (_, n) =>
    addressFromBytes(Uint8Array.from({ length: 32 }, (_, at) => (at < 4 ? n >> (8 * at) : at))),
  )
  for (let at = 0; at < wallets; at += 10_000)
    await addTrackedWallets(store, addresses.slice(0, at + 10_000), addresses.slice(0, at), 1)
  const total = wallets * eventsPerWallet
  for (let at = 0; at < total; at += ROWS_PER_INSERT)
    await store.command(
      `INSERT INTO swaps (slot, tx_index, wallet, event_index, block_time, signature, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount,
         program, program_id, confidence, quote_mismatch, fee_lamports, value_lamports, inserted_at)
       SELECT ${FIRST_SLOT} + intDiv(n, 10), n % 10, 1 + n % ${wallets}, 0, ${FIRST_TIME} + intDiv(n, 20), hex(sipHash128(n)),
         if(intDiv(n, ${wallets}) % 5 < 3, 'buy', 'sell'), concat('mint', toString(intDiv(n, ${5 * wallets}) % ${TOKENS})), 1000000 + n * 7919 % 999983, 6,
         '${WSOL}', 1000000 + n * 104729 % 999999937, 'pumpswap', 'p', 'high', 0, 0, 1000000 + n * 104729 % 999999937, toDateTime64(${FIRST_TIME} + intDiv(n, 20), 3, 'UTC')
       FROM (SELECT ${at} + number AS n FROM numbers(${Math.min(ROWS_PER_INSERT, total - at)}))`,
    )
}
