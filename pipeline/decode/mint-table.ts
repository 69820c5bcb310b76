import { type Address, addressBytes, addressFromBytes } from '../domain/address.ts'
import { QUOTE_MINTS } from '../domain/quote.ts'
import type { Transaction } from '../domain/transaction.ts'
import { sameBytes } from './bytes.ts'

/** Number of WSOL, and of SOL itself, in every mint table. */
export const SOL = 0
/** Mints below this number are quote coins: WSOL, USDC, USDT. */
export const QUOTES = QUOTE_MINTS.length

/** No mint: an account that is no token account, or one of a mint that nothing told. */
export const NO_MINT = -1

/** The mints of one transaction by small numbers, quote coins first, and their decimals as far as the transaction tells. */
export class MintTable {
  readonly addresses: Address[] = [...QUOTE_MINTS]
  readonly #decimals: (number | undefined)[] = [9, 6, 6]
  readonly #tx: Transaction

  constructor(tx: Transaction) {
    this.#tx = tx
  }

  /** Number of a mint by its text. */
  numberOf(mint: Address): number {
    const at = this.addresses.indexOf(mint)
    return at === -1 ? this.addresses.push(mint) - 1 : at
  }

  /** Number of the mint whose account stands at `accountIndex`. Makes base58 text of mints that are no quote coins. */
  numberAt(accountIndex: number): number {
    const key = this.#tx.accountKeys[accountIndex]
    if (key === undefined) return NO_MINT
    for (let i = 0; i < QUOTES; i++) if (sameBytes(key, QUOTE_KEYS[i]!)) return i
    return this.numberOf(addressFromBytes(key))
  }

  decimalsOf(mint: number): number | undefined {
    return this.#decimals[mint]
  }

  setDecimals(mint: number, decimals: number | null): void {
    if (decimals !== null && mint >= QUOTES) this.#decimals[mint] = decimals
  }
}

const QUOTE_KEYS = QUOTE_MINTS.map(addressBytes)
