import { insertRows } from '../insert-rows.ts'
import type { Store } from '../store.ts'

/** Subquery: since when the history of each wallet is complete. */
export const COVERAGE = 'SELECT wallet, since_slot, since_time FROM wallet_coverage FINAL'

/** The start of a wallet's coverage: all of its events since then are stored. */
export interface CoverageStart {
  readonly slot: number
  /** Unix seconds of that slot's block, or a little later. */
  readonly time: number
}

/** Table `wallet_coverage`. Changes by one process are made one after the other. */
export type WalletCoverage = ReturnType<typeof createWalletCoverage>

/** Creates the table's access over a store that waits while the server is down. */
export function createWalletCoverage(store: Store) {
  let version = 0
  let last: Promise<unknown> = Promise.resolve()

  function serially<T>(change: () => Promise<T>): Promise<T> {
    const done = last.then(change)
    last = done.catch(() => {})
    return done
  }

  async function save(starts: ReadonlyMap<number, CoverageStart>): Promise<void> {
    version = Math.max(version + 1, Date.now())
    const rows = [...starts].map(([wallet, { slot, time }]) => ({
      wallet,
      since_slot: slot,
      since_time: time,
      version,
    }))
    await insertRows(store, 'wallet_coverage', rows)
  }

  const of = (wallets: readonly number[]) => readCoverage(store, wallets)
  const ofWallet = async (wallet: number) => (await of([wallet])).get(wallet)

  return {
    /** Returns the coverage of wallets; a wallet without coverage has no entry. */
    of,
    /** Returns the coverage of one wallet. */
    ofWallet,
    /** Starts the coverage of those wallets that have none. */
    begin: (wallets: readonly number[], since: CoverageStart) =>
      serially(async () => {
        const known = await of(wallets)
        const begun = wallets.filter((wallet) => !known.has(wallet))
        await save(new Map(begun.map((wallet) => [wallet, since])))
      }),
    /**
     * Moves the start back to `from`, when the stored history from there to slot `to` reaches it.
     */
    extend: (wallet: number, from: CoverageStart, to: number) =>
      serially(async () => {
        const since = await ofWallet(wallet)
        // No slot may be left out between the fetched history and the coverage.
        if (since === undefined || to < since.slot - 1 || from.slot >= since.slot) return
        const time = Math.min(from.time, since.time)
        await save(new Map([[wallet, { slot: from.slot, time }]]))
      }),
    /** Moves the starts forward to `at`, because an event before `at` may be missing. */
    cut: (wallets: readonly number[], at: CoverageStart) =>
      serially(async () => {
        const starts = new Map<number, CoverageStart>()
        for (const [wallet, since] of await of(wallets))
          if (at.slot > since.slot)
            starts.set(wallet, { slot: at.slot, time: Math.max(at.time, since.time) })
        await save(starts)
      }),
  }
}

async function readCoverage(store: Store, wallets: readonly number[]) {
  const rows = await store.query<{ wallet: number; since_slot: string; since_time: number }>(
    `SELECT wallet, since_slot, since_time FROM wallet_coverage FINAL
     WHERE wallet BETWEEN {from:UInt32} AND {to:UInt32} LIMIT 10000000`,
    { from: least(wallets), to: greatest(wallets) },
  )
  const wanted = new Set(wallets)
  return new Map(
    rows
      .filter(({ wallet }) => wanted.has(wallet))
      .map((row) => [row.wallet, { slot: Number(row.since_slot), time: row.since_time }]),
  )
}

function least(wallets: readonly number[]): number {
  return wallets.reduce((a, b) => Math.min(a, b), 4_294_967_295)
}

function greatest(wallets: readonly number[]): number {
  return wallets.reduce((a, b) => Math.max(a, b), 0)
}
