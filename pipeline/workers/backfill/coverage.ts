import type { Store } from '../../store/store.ts'
import { insertRows } from '../fold/book-store.ts'

/** Since when everything that a wallet did is stored. */
export interface Since {
  readonly slot: number
  /** Unix seconds of that slot's block, or a little later. */
  readonly time: number
}

/** Table `wallet_coverage`. Changes of one process come one after the other. */
export interface Coverage {
  of(wallets: readonly number[]): Promise<ReadonlyMap<number, Since>>
  /** Says that wallets without coverage are covered from here on. */
  begin(wallets: readonly number[], since: Since): Promise<void>
  /** History from `from` up to slot `to` has been stored: coverage that it reaches begins there. */
  extend(wallet: number, from: Since, to: number): Promise<void>
  /** What lies before is not all stored, and will not be. */
  cut(wallet: number, since: Since): Promise<void>
}

/** Over a store that waits. */
export function createCoverage(store: Store): Coverage {
  let version = 0
  let last: Promise<unknown> = Promise.resolve()

  function inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = last.then(change)
    last = done.catch(() => {})
    return done
  }

  async function of(wallets: readonly number[]) {
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

  async function save(wallets: readonly number[], since: Since): Promise<void> {
    version = Math.max(version + 1, Date.now())
    const row = { since_slot: since.slot, since_time: since.time, version }
    await insertRows(
      store,
      'wallet_coverage',
      wallets.map((wallet) => ({ wallet, ...row })),
    )
  }

  return {
    of,
    begin: (wallets, since) =>
      inTurn(async () => {
        const known = await of(wallets)
        const begun = wallets.filter((wallet) => !known.has(wallet))
        await save(begun, since)
      }),
    extend: (wallet, from, to) =>
      inTurn(async () => {
        const since = (await of([wallet])).get(wallet)
        // Between what was fetched and what is covered nothing may be left out.
        if (since === undefined || to < since.slot - 1 || from.slot >= since.slot) return
        await save([wallet], { slot: from.slot, time: Math.min(from.time, since.time) })
      }),
    cut: (wallet, at) =>
      inTurn(async () => {
        const since = (await of([wallet])).get(wallet)
        if (since !== undefined && at.slot > since.slot)
          await save([wallet], { slot: at.slot, time: Math.max(at.time, since.time) })
      }),
  }
}

function least(wallets: readonly number[]): number {
  return wallets.reduce((a, b) => Math.min(a, b), 4_294_967_295)
}

function greatest(wallets: readonly number[]): number {
  return wallets.reduce((a, b) => Math.max(a, b), 0)
}
