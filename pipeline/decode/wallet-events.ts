import type { Address } from '../domain/address.ts'
import type { WalletEvent } from '../domain/event.ts'
import type { DecodedWallet } from './decode-wallet.ts'
import type { MintTable } from './mint-table.ts'

/** The fields that all records of a wallet's transaction share. */
export interface RecordKey {
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  readonly blockTime: number
  readonly signature: string
}

/** Whether a transaction gave the wallet any event. */
export function hasEvents({ swaps, transfers, sol }: DecodedWallet): boolean {
  return swaps.length > 0 || transfers.length > 0 || sol.received > 0n || sol.sent > 0n
}

/**
 * Returns the numbered events of a wallet's transaction. Their order is that of the event key
 * (rules of section A): token transfers in (by mint), swaps (in instruction order), token transfers
 * out (by mint), SOL in, SOL out.
 */
export function toWalletEvents(
  key: RecordKey,
  { swaps, terminalFee, transfers, sol }: DecodedWallet,
  decimals: KnownDecimals,
): WalletEvent[] {
  const events: WalletEvent[] = []
  const byMint = transfers
    .map(({ mint, amount }) => ({ mint: decimals.addressOf(mint), amount, of: mint }))
    .sort((a, b) => (a.mint < b.mint ? -1 : 1))
  const addTransfers = (direction: 'in' | 'out') => {
    for (const { mint, amount, of } of byMint) {
      if (amount > 0n !== (direction === 'in')) continue
      const raw = amount > 0n ? amount : -amount
      const moved = { direction, mint, amount: raw, decimals: decimals.of(of) }
      events.push({ kind: 'token_transfer', ...key, eventIndex: events.length, ...moved })
    }
  }

  addTransfers('in')
  swaps.forEach((swap, i) => {
    events.push({
      kind: 'swap',
      ...key,
      eventIndex: events.length,
      side: swap.side,
      baseMint: decimals.addressOf(swap.mint),
      baseAmount: swap.amount,
      baseDecimals: decimals.of(swap.mint),
      quoteMint: swap.quote === null ? null : decimals.addressOf(swap.quote.mint),
      quoteAmount: swap.quote?.amount ?? 0n,
      program: swap.program,
      programId: swap.programId,
      pool: swap.pool,
      confidence: swap.confidence,
      quoteMismatch: swap.quote === null,
      feeLamports: i === 0 ? terminalFee : 0n,
      solPriceUsdE9: null,
    })
  })
  addTransfers('out')
  if (sol.received > 0n) {
    events.push({
      kind: 'sol_transfer',
      ...key,
      eventIndex: events.length,
      direction: 'in',
      lamports: sol.received,
    })
  }
  if (sol.sent > 0n) {
    events.push({
      kind: 'sol_transfer',
      ...key,
      eventIndex: events.length,
      direction: 'out',
      lamports: sol.sent,
    })
  }
  return events
}

/**
 * Decimals of mints by mint number: from the transaction, else from the caller. Collects the mints
 * whose decimals neither knows.
 */
export class KnownDecimals {
  /** Mints whose decimals were needed and are unknown. */
  readonly missing = new Set<Address>()
  private readonly mints: MintTable
  private readonly outside: (mint: Address) => number | undefined

  constructor(mints: MintTable, outside: (mint: Address) => number | undefined) {
    this.mints = mints
    this.outside = outside
  }

  /** Address of a mint number. */
  addressOf(mint: number): Address {
    return this.mints.addresses[mint]!
  }

  /** Decimals of a mint number; 0 if unknown, which also adds the mint to `missing`. */
  of(mint: number): number {
    const decimals = this.mints.decimalsOf(mint) ?? this.outside(this.addressOf(mint))
    if (decimals === undefined) this.missing.add(this.addressOf(mint))
    return decimals ?? 0
  }
}
