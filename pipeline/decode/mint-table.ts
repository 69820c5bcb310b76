import { type Address, addressBytes, addressFromBytes } from '../domain/address.ts'
import { QUOTE_MINTS } from '../domain/quote.ts'
import type { Transaction } from '../domain/transaction.ts'
import { sameBytes } from './bytes.ts'

/** Mint number of WSOL, and of SOL itself, in every mint table. */
export const SOL = 0
/** Number of quote coins. Mint numbers below it are WSOL, USDC and USDT. */
export const QUOTES = QUOTE_MINTS.length

/** The mint number of accounts that are not token accounts or whose mint is unknown. */
export const NO_MINT = -1

/**
 * Numbers the mints of one transaction, quote coins first, and keeps their decimals as far as the
 * transaction states them. Small numbers replace base58 text on the hot path.
 */
export class MintTable {
  readonly addresses: Address[] = [...QUOTE_MINTS]
  readonly #decimals: (number | undefined)[] = [9, 6, 6]
  readonly #tx: Transaction

  constructor(tx: Transaction) {
    this.#tx = tx
  }

  /** Number of a mint, given as base58 text. */
  numberOf(mint: Address): number {
    const at = this.addresses.indexOf(mint)
    return at === -1 ? this.addresses.push(mint) - 1 : at
  }

  /**
   * Number of the mint whose account has this index; `NO_MINT` when there is no such account. Makes
   * base58 text unless the mint is a quote coin.
   */
  numberAt(accountIndex: number): number {
    const key = this.#tx.accountKeys[accountIndex]
    if (key === undefined) return NO_MINT
    for (let i = 0; i < QUOTES; i++) if (sameBytes(key, QUOTE_KEYS[i]!)) return i
    return this.numberOf(addressFromBytes(key))
  }

  /** Decimals of a mint; undefined when the transaction does not state them. */
  decimalsOf(mint: number): number | undefined {
    return this.#decimals[mint]
  }

  /**
   * Records the decimals of a mint. Ignores null, and the quote coins, whose decimals are fixed.
   */
  setDecimals(mint: number, decimals: number | null): void {
    if (decimals !== null && mint >= QUOTES) this.#decimals[mint] = decimals
  }
}

const QUOTE_KEYS = QUOTE_MINTS.map(addressBytes)
