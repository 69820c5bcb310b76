import bs58 from 'bs58'
import { type Address, addressFromBytes } from '../domain/address.ts'
import type { Undecoded } from '../domain/event.ts'
import type { WalletRecord } from '../domain/slot.ts'
import type { Transaction } from '../domain/transaction.ts'
import type { Wallets } from '../domain/wallets.ts'
import { type DecodedWallet, decodeWallet } from './decode-wallet.ts'
import { type Facts, readFacts } from './facts.ts'
import type { MintTable } from './mint-table.ts'
import { type NamedWallets, namedWallets } from './named-wallets.ts'
import { type UndecodedCause, whyUndecoded } from './undecoded.ts'

/** Turns transactions into what tracked wallets did. Pure; throws on no data. */
export interface Decoder {
  /**
   * The records of a transaction in event-key order, each wallet's balance after its events; none when it names no tracked wallet. `blockTime` in unix
   * seconds. `decimalsOf` tells decimals of mints that the transaction does not; where it is silent too, the answer is `needs_decimals` and the
   * caller decodes again when it knows them (decisions J8).
   */
  decode(tx: Transaction, blockTime: number, decimalsOf?: DecimalsOf): Decoded
}

/** Decimals of a mint; undefined when not known yet. */
export type DecimalsOf = (mint: Address) => number | undefined

export type Decoded =
  | { readonly kind: 'decoded'; readonly records: readonly WalletRecord[] }
  | { readonly kind: 'needs_decimals'; readonly mints: readonly Address[] }

const NOTHING: Decoded = { kind: 'decoded', records: [] }

/** A decoder for a set of tracked wallets. Its cost a transaction does not grow with their number. */
export function createDecoder(wallets: Wallets): Decoder {
  return {
    decode(tx, blockTime, decimalsOf = () => undefined) {
      const named = namedWallets(tx, wallets)
      if (named === null) return NOTHING
      return decodeNamed(tx, named, wallets, blockTime, decimalsOf)
    },
  }
}

function decodeNamed(
  tx: Transaction,
  named: NamedWallets,
  wallets: Wallets,
  blockTime: number,
  decimalsOf: DecimalsOf,
): Decoded {
  // A failed transaction moved nothing, but its fee changed balances (decisions B1).
  const facts = tx.failed ? null : readFacts(tx, named, wallets)
  const cause = facts === null ? null : whyUndecoded(facts)
  const signature = bs58.encode(tx.signature)
  const decimals = facts === null ? null : new Decimals(facts.mints, decimalsOf)
  const records: WalletRecord[] = []
  for (const wallet of named.wallets) {
    const key = { slot: tx.slot, txIndex: tx.index, wallet, blockTime, signature }
    if (facts !== null && decimals !== null) {
      if (cause !== null) records.push(undecoded(key, cause, facts))
      else addEvents(records, key, decodeWallet(facts, wallet), decimals)
    }
    const at = named.atKey.indexOf(wallet)
    if (at === -1) continue
    const { signature: _, ...place } = key
    records.push({ kind: 'balance', ...place, lamports: tx.postBalances[at]! })
  }
  if (decimals !== null && decimals.missing.size > 0) {
    return { kind: 'needs_decimals', mints: [...decimals.missing] }
  }
  return { kind: 'decoded', records }
}

/** What all records of a wallet's transaction carry. */
interface Key {
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  readonly blockTime: number
  readonly signature: string
}

/** Numbers a wallet's events: token transfers in, swaps, token transfers out, SOL in, SOL out (decisions A, event key). */
function addEvents(
  records: WalletRecord[],
  key: Key,
  { swaps, terminalFee, transfers, sol }: DecodedWallet,
  decimals: Decimals,
): void {
  let eventIndex = 0
  const next = () => ({ ...key, eventIndex: eventIndex++ })
  const named = transfers.map(({ mint, amount }) => ({
    mint: decimals.addressOf(mint),
    amount,
    decimals: decimals.of(mint),
  }))
  named.sort((a, b) => (a.mint < b.mint ? -1 : 1))
  for (const { mint, amount, decimals } of named) {
    if (amount < 0n) continue
    records.push({ kind: 'token_transfer', ...next(), direction: 'in', mint, amount, decimals })
  }
  swaps.forEach((swap, i) => {
    records.push({
      kind: 'swap',
      ...next(),
      side: swap.side,
      baseMint: decimals.addressOf(swap.mint),
      baseAmount: swap.amount,
      baseDecimals: decimals.of(swap.mint),
      quoteMint: swap.quote === null ? null : decimals.addressOf(swap.quote.mint),
      quoteAmount: swap.quote?.amount ?? 0n,
      program: swap.program,
      programId: swap.programId,
      confidence: swap.confidence,
      quoteMismatch: swap.quote === null,
      feeLamports: i === 0 ? terminalFee : 0n,
      solPriceUsdE9: null,
    })
  })
  for (const { mint, amount, decimals } of named) {
    if (amount > 0n) continue
    records.push({
      kind: 'token_transfer',
      ...next(),
      direction: 'out',
      mint,
      amount: -amount,
      decimals,
    })
  }
  if (sol.received > 0n) {
    records.push({ kind: 'sol_transfer', ...next(), direction: 'in', lamports: sol.received })
  }
  if (sol.sent > 0n) {
    records.push({ kind: 'sol_transfer', ...next(), direction: 'out', lamports: sol.sent })
  }
}

function undecoded(key: Key, { reason, program }: UndecodedCause, { tx }: Facts): Undecoded {
  const programId = program === null ? null : addressFromBytes(tx.accountKeys[program]!)
  return { kind: 'undecoded', ...key, programId, reason }
}

/** Decimals of mints by number: from the transaction, else from the caller; those that nobody knows are noted. */
class Decimals {
  readonly missing = new Set<Address>()
  readonly #mints: MintTable
  readonly #outside: DecimalsOf

  constructor(mints: MintTable, outside: DecimalsOf) {
    this.#mints = mints
    this.#outside = outside
  }

  addressOf(mint: number): Address {
    return this.#mints.addresses[mint]!
  }

  of(mint: number): number {
    const decimals = this.#mints.decimalsOf(mint) ?? this.#outside(this.addressOf(mint))
    if (decimals === undefined) this.missing.add(this.addressOf(mint))
    return decimals ?? 0
  }
}
