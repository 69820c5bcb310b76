import { type Address, addressFromBytes } from '../../../pipeline/domain/address.ts'
import type { WalletEvent } from '../../../pipeline/domain/event.ts'
import { USDC, WSOL } from '../../../pipeline/domain/quote.ts'
import type { SlotRecords, WalletRecord } from '../../../pipeline/domain/slot.ts'
import { createRandom } from '../../simulator/random.ts'

/**
 * The trading of some wallets: 45% buys, 45% sells, 6% token transfers, 4% SOL transfers, over some
 * tokens each; one in ten swaps in USDC.
 */
export interface Workload {
  readonly wallets: number
  readonly tokensPerWallet: number
}

const START_TIME = 1_760_000_000

/** Creates the events of a workload, without end; the same workload gives the same events. */
export function createWorkload({ wallets, tokensPerWallet }: Workload) {
  const random = createRandom(7, 'workload').below
  const mints = Array.from({ length: Math.max(2000, tokensPerWallet) }, (_, n) => anAddress(n))
  let made = 0

  /** A wallet's tokens are a part of a common market's. */
  const mintOf = (wallet: number, token: number) =>
    mints[(wallet * 31 + token) % mints.length] ?? WSOL

  /** The next event, at the given place. */
  function event(slot: number, txIndex: number): WalletEvent {
    const wallet = 1 + (made % wallets)
    const kind = random(100)
    const mint = mintOf(wallet, random(tokensPerWallet))
    made += 1
    const base = {
      slot,
      txIndex,
      wallet,
      eventIndex: 0,
      blockTime: START_TIME + Math.floor(slot * 0.4),
      signature: aSignature(random),
    }
    const amount = BigInt(1_000_000 + random(1_000_000_000))
    if (kind >= 96) return solTransfer(base, kind, amount)
    if (kind >= 90) return tokenTransfer(base, kind, mint, amount)
    return swap(base, kind, mint, amount, BigInt(10_000_000 + random(2_000_000_000)))
  }

  /**
   * A sealed slot with `events` events, each in its own transaction with its balance record (rule
   * B14).
   */
  function slotOf(slot: number, events: number): SlotRecords {
    const records: WalletRecord[] = []
    for (let txIndex = 0; txIndex < events; txIndex += 1) {
      const made = event(slot, txIndex)
      const { wallet, blockTime } = made
      records.push(made, {
        kind: 'balance',
        slot,
        txIndex,
        wallet,
        blockTime,
        lamports: BigInt(random(1_000_000_000)) * 50n,
        lamportsBefore: 0n,
      })
    }
    const blockTime = START_TIME + Math.floor(slot * 0.4)
    const solPrice = { time: blockTime, usdE9: 150_000_000_000n }
    const marker = {
      slot,
      parent: slot - 1,
      blockTime,
      solPrice,
      blockId: BigInt(slot),
      finalized: Math.max(0, slot - 32),
    }
    return { marker, records }
  }

  return { event, slotOf, mintOf }
}

type EventBase = Pick<
  WalletEvent,
  'slot' | 'txIndex' | 'wallet' | 'eventIndex' | 'blockTime' | 'signature'
>

// The three functions below write every field out, as the log's reader does: an object made with a
// spread is several times slower to use.

function solTransfer(base: EventBase, kind: number, lamports: bigint): WalletEvent {
  return {
    kind: 'sol_transfer',
    slot: base.slot,
    txIndex: base.txIndex,
    wallet: base.wallet,
    eventIndex: base.eventIndex,
    blockTime: base.blockTime,
    signature: base.signature,
    direction: kind % 2 === 0 ? 'in' : 'out',
    lamports,
  }
}

function tokenTransfer(base: EventBase, kind: number, mint: Address, amount: bigint): WalletEvent {
  return {
    kind: 'token_transfer',
    slot: base.slot,
    txIndex: base.txIndex,
    wallet: base.wallet,
    eventIndex: base.eventIndex,
    blockTime: base.blockTime,
    signature: base.signature,
    direction: kind % 2 === 0 ? 'in' : 'out',
    mint,
    amount,
    decimals: 6,
  }
}

function swap(
  base: EventBase,
  kind: number,
  mint: Address,
  amount: bigint,
  quoteAmount: bigint,
): WalletEvent {
  const inUsd = kind % 10 === 0
  return {
    kind: 'swap',
    slot: base.slot,
    txIndex: base.txIndex,
    wallet: base.wallet,
    eventIndex: base.eventIndex,
    blockTime: base.blockTime,
    signature: base.signature,
    side: kind < 45 ? 'buy' : 'sell',
    baseMint: mint,
    baseAmount: amount,
    baseDecimals: 6,
    quoteMint: inUsd ? USDC : WSOL,
    quoteAmount,
    program: 'pumpswap',
    programId: PROGRAM,
    pool: PROGRAM,
    confidence: 'high',
    quoteMismatch: false,
    feeLamports: 0n,
    solPriceUsdE9: inUsd ? 150_000_000_000n : null,
  }
}

function anAddress(n: number): Address {
  const random = createRandom(n, 'address').below
  return addressFromBytes(Uint8Array.from({ length: 32 }, () => random(256)))
}

const PROGRAM = anAddress(-1)
const ALPHABET = Buffer.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')
const buffer = Buffer.alloc(88)

/** 88 characters that do not compress, like a signature's. */
function aSignature(random: (below: number) => number): string {
  for (let at = 0; at < 88; at += 1) buffer[at] = ALPHABET[random(58)] ?? 0
  return buffer.toString('latin1')
}
