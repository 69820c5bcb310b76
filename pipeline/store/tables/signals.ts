import { inserter } from '../insert-rows.ts'
import type { Store } from '../store.ts'

/** Stores rows, which never change. A row written again is the same. */
export const insertSignals = inserter('signals')

/** A row of table `signals`. Integers of 64 bits and more are decimal strings. */
export interface StoredSignal {
  readonly id: string
  readonly strategy: string
  readonly mint: string
  readonly symbol: string
  readonly name: string
  readonly fired_at: number
  readonly conviction: number
  readonly wallets: readonly number[]
  readonly trigger_mcap: number | null
  /** `trigger_mcap` as a fraction (`parseFraction`); '' if unknown, and in rows of old versions. */
  readonly exact_trigger_mcap: string
  readonly held_lamports: string
  readonly buy_lamports: string
  readonly sell_lamports: string
  readonly reasons: readonly {
    readonly field: string
    readonly op: '>=' | '>' | '<=' | '<' | '=' | '!='
    /** As JSON. */
    readonly threshold: string
    readonly value: string
  }[]
}

const COLUMNS =
  'fired_at, strategy, mint, id, symbol, name, conviction, wallets, trigger_mcap, exact_trigger_mcap, held_lamports, buy_lamports, sell_lamports, reasons'

/**
 * Returns the newest signals up to tick `at`, newest first; within a tick by mint and strategy
 * descending.
 */
export function readNewestSignals(store: Store, at: number, limit: number) {
  return store.query<StoredSignal>(
    `SELECT ${COLUMNS} FROM signals
     WHERE fired_at <= {at:UInt32}
     ORDER BY fired_at DESC, mint DESC, strategy DESC, entry DESC
     LIMIT 1 BY fired_at, mint, strategy, entry LIMIT {limit:UInt32}`,
    { at, limit },
  )
}

/**
 * Returns the signals that fired after tick `afterAt`, up to and including tick `throughAt`, by
 * `(fired_at, mint, strategy)`: the reverse order of `readNewestSignals`.
 */
export function readSignalsBetween(store: Store, afterAt: number, throughAt: number) {
  return store.query<StoredSignal>(
    `SELECT ${COLUMNS} FROM signals
     WHERE fired_at > {afterAt:UInt32} AND fired_at <= {throughAt:UInt32}
     ORDER BY fired_at, mint, strategy, entry
     LIMIT 1 BY fired_at, mint, strategy, entry LIMIT 1000000`,
    { afterAt, throughAt },
  )
}

/** Returns the signals since a time, of tokens that entered the list since then. */
export function readFired(store: Store, since: number) {
  return store.query<{ strategy: string; mint: string; entry: number }>(
    'SELECT DISTINCT strategy, mint, entry FROM signals WHERE fired_at >= {since:UInt32} AND entry >= {since:UInt32}',
    { since },
  )
}
