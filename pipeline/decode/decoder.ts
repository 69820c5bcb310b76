import { type Address, addressFromBytes } from '../domain/address.ts'
import { encodeBase58 } from '../domain/base58.ts'
import type { DecodedRecord } from '../domain/slot.ts'
import type { Transaction } from '../domain/transaction.ts'
import type { Wallets } from '../domain/wallets.ts'
import { decodeWallet } from './decode-wallet.ts'
import { findNamedWallets, type NamedWallets } from './named-wallets.ts'
import { type ProgramRegistry, REGISTRY } from './registry.ts'
import { addTokenLinks } from './token-links.ts'
import { mayMoveAssets, readTransactionFacts } from './transaction-facts.ts'
import { findUndecodedCause } from './undecoded.ts'
import { hasEvents, KnownDecimals, type RecordKey, toWalletEvents } from './wallet-events.ts'

/** Decodes transactions into records of tracked wallets. Pure: never throws, whatever the data. */
export interface Decoder {
  /**
   * Returns the records of a transaction in event-key order. The balance record of a wallet follows
   * the wallet's events, then come the links of its token accounts by address. The list is empty
   * when the transaction names no tracked wallet.
   *
   * `blockTime` is in unix seconds. `decimalsOf` gives the decimals of mints that the transaction
   * does not state. If it does not know one either, the result is `needs_decimals`: look the
   * decimals up, then decode again (rule J8).
   */
  decode(tx: Transaction, blockTime: number, decimalsOf?: DecimalsOf): DecodeResult
}

/** Returns the decimals of a mint; undefined when they are not known yet. */
export type DecimalsOf = (mint: Address) => number | undefined

/** The result of decoding: the records, or the mints whose decimals are missing. */
export type DecodeResult =
  | { readonly kind: 'decoded'; readonly records: readonly DecodedRecord[] }
  | { readonly kind: 'needs_decimals'; readonly mints: readonly Address[] }

const NOTHING: DecodeResult = { kind: 'decoded', records: [] }
const NOBODY_KNOWS: DecimalsOf = () => undefined

/**
 * Returns a decoder for a set of tracked wallets. Its cost per transaction does not depend on the
 * number of wallets.
 */
export function createDecoder(wallets: Wallets, registry: ProgramRegistry = REGISTRY): Decoder {
  return {
    decode(tx, blockTime, decimalsOf = NOBODY_KNOWS) {
      const named = findNamedWallets(tx, wallets)
      if (named === null) return NOTHING
      // A failed transaction moved nothing, but its fee changed balances (rules B1, B14, K8).
      if (tx.failed || (tx.innerKept && !named.ownTokens && !mayMoveAssets(tx, registry))) {
        return { kind: 'decoded', records: linksOf(tx, named, blockTime) }
      }
      return decodeNamed(tx, named, wallets, registry, blockTime, decimalsOf)
    },
  }
}

function decodeNamed(
  tx: Transaction,
  named: NamedWallets,
  wallets: Wallets,
  registry: ProgramRegistry,
  blockTime: number,
  decimalsOf: DecimalsOf,
): DecodeResult {
  const facts = readTransactionFacts(tx, named, wallets, registry)
  const undecoded = findUndecodedCause(facts)
  const decimals = new KnownDecimals(facts.movements.mints, decimalsOf)
  const records: DecodedRecord[] = []
  let signature: string | null = null
  const keyOf = (wallet: number): RecordKey => {
    signature ??= encodeBase58(tx.signature)
    return { slot: tx.slot, txIndex: tx.index, wallet, blockTime, signature }
  }
  for (const wallet of named.wallets) {
    if (undecoded !== null) {
      const { reason, program } = undecoded
      const programId = program === null ? null : addressFromBytes(tx.accountKeys[program]!)
      records.push({ kind: 'undecoded', ...keyOf(wallet), programId, reason })
    } else {
      const decoded = decodeWallet(facts, wallet)
      if (hasEvents(decoded)) records.push(...toWalletEvents(keyOf(wallet), decoded, decimals))
    }
    addLinks(records, tx, named, wallet, blockTime)
  }
  const missing = [...decimals.missing]
  return missing.length > 0
    ? { kind: 'needs_decimals', mints: missing }
    : { kind: 'decoded', records }
}

function linksOf(tx: Transaction, named: NamedWallets, blockTime: number): DecodedRecord[] {
  const records: DecodedRecord[] = []
  for (const wallet of named.wallets) addLinks(records, tx, named, wallet, blockTime)
  return records
}

/**
 * Adds the wallet's own lamports before and after the transaction, if its key is an account key
 * (rule B14), and the links of its token accounts (rule K8).
 */
function addLinks(
  records: DecodedRecord[],
  tx: Transaction,
  named: NamedWallets,
  wallet: number,
  blockTime: number,
): void {
  const at = named.atKey.indexOf(wallet)
  if (at !== -1) {
    const lamports = tx.lamportsAfter(at)
    const lamportsBefore = tx.lamportsBefore(at)
    const recordFields = { slot: tx.slot, txIndex: tx.index, wallet, blockTime }
    records.push({ kind: 'balance', ...recordFields, lamports, lamportsBefore })
  }
  addTokenLinks(records, tx, named, wallet, blockTime)
}
