import { type Address, parseAddress } from '../domain/address.ts'
import { MAX_KEPT_BYTES } from '../domain/event.ts'
import type { SlotMarker } from '../domain/slot.ts'
import type { LogMessage } from './log-message.ts'

/**
 * Reads what `JSON.parse` made of an entry of format versions 1 and 2: exactly the fields of its kind, each of its type; null for anything else. Written by hand
 * because a worker that is behind reads tens of thousands a second: a schema takes several times as long. Its test holds it against that schema.
 */
export function readEntry(json: unknown): LogMessage | null {
  if (!isFields(json)) return null
  try {
    return readFields(json)
  } catch (error) {
    if (error instanceof Misfit) return null
    throw error
  }
}

type Fields = { readonly [name: string]: unknown }

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A field is missing or not of its type, or there is one too many. */
class Misfit extends Error {}

/** With every field read and found good, a right number of them means that there is no other. */
function expectCount(fields: Fields, count: number): void {
  let found = 0
  for (const _ in fields) found += 1 // without the array that `Object.keys` makes
  if (found !== count) throw new Misfit()
}

function readFields(e: Fields): LogMessage {
  const { kind } = e
  if (e.v !== 1 && e.v !== 2) throw new Misfit()
  if (kind === 'marker') {
    expectCount(e, 6)
    return { kind, marker: markerOf(e) }
  }
  if (kind === 'refold') {
    expectCount(e, 4)
    return {
      kind,
      refold: { wallet: integer(e.wallet, 1), revision: integer(e.revision, 1, MAX_REVISION) },
    }
  }
  const late = e.late === null ? null : oneOf(e.late, 'stream', 'backfill')
  const decoderVersion = integer(e.decoderVersion, 1, 0xffff)
  return { kind: 'record', record: recordOf(kind, e), late, decoderVersion }
}

function markerOf(e: Fields): SlotMarker {
  const { solPrice } = e
  const slot = integer(e.slot)
  const parent = integer(e.parent)
  const blockTime = unixSeconds(e.blockTime)
  if (solPrice === null) return { slot, parent, blockTime, solPrice }
  if (!isFields(solPrice)) throw new Misfit()
  expectCount(solPrice, 2)
  const time = unixSeconds(solPrice.time)
  return { slot, parent, blockTime, solPrice: { time, usdE9: u64(solPrice.usdE9) } }
}

/** Fields of every record: `v`, `kind`, `late`, `decoderVersion` and the four that `placeOf` reads. */
const COMMON = 8

function recordOf(kind: unknown, e: Fields): (LogMessage & { kind: 'record' })['record'] {
  const slot = integer(e.slot)
  const txIndex = integer(e.txIndex)
  const wallet = integer(e.wallet, 1)
  const blockTime = unixSeconds(e.blockTime)
  switch (kind) {
    case 'swap':
      expectCount(e, COMMON + (e.v === 1 ? 14 : 15))
      return {
        kind,
        slot,
        txIndex,
        wallet,
        blockTime,
        eventIndex: integer(e.eventIndex),
        signature: signature(e.signature),
        side: oneOf(e.side, 'buy', 'sell'),
        baseMint: address(e.baseMint),
        baseAmount: u128(e.baseAmount),
        baseDecimals: integer(e.baseDecimals, 0, 255),
        quoteMint: e.quoteMint === null ? null : address(e.quoteMint),
        quoteAmount: u128(e.quoteAmount),
        program: shortText(e.program),
        programId: address(e.programId),
        // Version 1 did not have it.
        pool: e.v === 1 || e.pool === null ? null : address(e.pool),
        confidence: oneOf(e.confidence, 'high', 'delta_only'),
        quoteMismatch: boolean(e.quoteMismatch),
        feeLamports: u64(e.feeLamports),
        solPriceUsdE9: e.solPriceUsdE9 === null ? null : u64(e.solPriceUsdE9),
      }
    case 'token_transfer':
      expectCount(e, COMMON + 6)
      return {
        kind,
        slot,
        txIndex,
        wallet,
        blockTime,
        eventIndex: integer(e.eventIndex),
        signature: signature(e.signature),
        direction: oneOf(e.direction, 'in', 'out'),
        mint: address(e.mint),
        amount: u128(e.amount),
        decimals: integer(e.decimals, 0, 255),
      }
    case 'sol_transfer':
      expectCount(e, COMMON + 4)
      return {
        kind,
        slot,
        txIndex,
        wallet,
        blockTime,
        eventIndex: integer(e.eventIndex),
        signature: signature(e.signature),
        direction: oneOf(e.direction, 'in', 'out'),
        lamports: u64(e.lamports),
      }
    case 'balance':
      expectCount(e, COMMON + 1)
      return { kind, slot, txIndex, wallet, blockTime, lamports: u64(e.lamports) }
    case 'undecoded':
      expectCount(e, COMMON + 3)
      return {
        kind,
        slot,
        txIndex,
        wallet,
        blockTime,
        signature: signature(e.signature),
        programId: e.programId === null ? null : address(e.programId),
        reason: shortText(e.reason),
      }
    case 'kept':
      expectCount(e, COMMON + 3)
      return {
        kind,
        slot,
        txIndex,
        wallet,
        blockTime,
        signature: signature(e.signature),
        format: integer(e.format, 0, 255),
        bytes: base64(e.bytes),
      }
    default:
      throw new Misfit()
  }
}

/** Versions of rows are revision x 2^32 + records folded, and are safe integers. */
const MAX_REVISION = 2 ** 21 - 1

function integer(value: unknown, min = 0, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max)
    return value
  throw new Misfit()
}

const unixSeconds = (value: unknown) => integer(value, 0, 0xffff_ffff)

function boolean(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Misfit()
  return value
}

function oneOf<T extends string>(value: unknown, one: T, other: T): T {
  if (value === one) return one
  if (value === other) return other
  throw new Misfit()
}

function shortText(value: unknown): string {
  if (typeof value !== 'string' || value.length < 1 || value.length > 100) throw new Misfit()
  return value
}

function signature(value: unknown): string {
  if (typeof value !== 'string' || !/^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(value)) throw new Misfit()
  return value
}

const U64 = 1n << 64n
const U128 = 1n << 128n
const u64 = (value: unknown) => decimal(value, U64)
const u128 = (value: unknown) => decimal(value, U128)

function decimal(value: unknown, limit: bigint): bigint {
  if (typeof value !== 'string' || !/^(?:0|[1-9][0-9]{0,38})$/.test(value)) throw new Misfit()
  const exact = BigInt(value)
  if (exact >= limit) throw new Misfit()
  return exact
}

/** Addresses found good lately: the same mints and programs come again and again, and checking one costs 2 us. */
const known = new Map<string, Address>()
const MAX_KNOWN = 10_000

function address(value: unknown): Address {
  if (typeof value !== 'string') throw new Misfit()
  const found = known.get(value)
  if (found !== undefined) return found
  const parsed = parseAddress(value)
  if (parsed === null) throw new Misfit()
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(value, parsed)
  return parsed
}

function base64(value: unknown): Uint8Array {
  if (typeof value !== 'string') throw new Misfit()
  const bytes = Buffer.from(value, 'base64')
  // What is no base64 is left out by Node, so that there is less.
  const padding = value.endsWith('==') ? 2 : value.endsWith('=') ? 1 : 0
  if (bytes.length > MAX_KEPT_BYTES || bytes.length !== (value.length * 3) / 4 - padding)
    throw new Misfit()
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}
