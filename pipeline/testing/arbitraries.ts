import bs58 from 'bs58'
import fc from 'fast-check'
import { addressFromBytes } from '../domain/address.ts'
import type {
  BalanceRecord,
  KeptTransaction,
  SolTransfer,
  Swap,
  TokenTransfer,
  Undecoded,
} from '../domain/event.ts'
import { USDC, USDT, WSOL } from '../domain/quote.ts'
import type { RefoldRequest, SlotMarker, SolPrice, WalletRecord } from '../domain/slot.ts'

/** Any 32-byte address. */
export const anAddress = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressFromBytes)

/** Base58 of any 64 bytes. */
export const aSignature = fc.uint8Array({ minLength: 64, maxLength: 64 }).map((b) => bs58.encode(b))

const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })
const u128 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n })
const natural = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const unixSeconds = fc.nat({ max: 0xffff_ffff })
const decimals = fc.nat({ max: 20 })
const direction = fc.constantFrom('in' as const, 'out' as const)

const place = {
  slot: natural,
  txIndex: fc.nat(),
  wallet: fc.integer({ min: 1, max: 10_000 }),
  blockTime: unixSeconds,
}
const event = { ...place, eventIndex: fc.nat({ max: 100 }), signature: aSignature }
const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T> // every key is required

/** Any swap. */
export const anySwap = record<Swap>({
  kind: fc.constant('swap'),
  ...event,
  side: fc.constantFrom('buy', 'sell'),
  baseMint: anAddress,
  baseAmount: u128,
  baseDecimals: decimals,
  quoteMint: fc.constantFrom(WSOL, USDC, USDT, null),
  quoteAmount: u128,
  program: fc.constantFrom('pumpswap', 'jupiter', 'unknown'),
  programId: anAddress,
  pool: fc.option(anAddress),
  confidence: fc.constantFrom('high', 'delta_only'),
  quoteMismatch: fc.boolean(),
  feeLamports: u64,
  solPriceUsdE9: fc.option(u64),
})

/** Any token transfer. */
export const aTokenTransfer = record<TokenTransfer>({
  kind: fc.constant('token_transfer'),
  ...event,
  direction,
  mint: anAddress,
  amount: u128,
  decimals,
})

/** Any SOL transfer. */
export const aSolTransfer = record<SolTransfer>({
  kind: fc.constant('sol_transfer'),
  ...event,
  direction,
  lamports: u64,
})

/** Any balance record. */
export const aBalanceRecord = record<BalanceRecord>({
  kind: fc.constant('balance'),
  ...place,
  lamports: u64,
})

/** Any undecoded transaction. */
export const anUndecoded = record<Undecoded>({
  kind: fc.constant('undecoded'),
  ...place,
  signature: aSignature,
  programId: fc.option(anAddress),
  reason: fc.constantFrom('truncated', 'unknown_layout'),
})

/** Any kept transaction. */
export const aKeptTransaction = record<KeptTransaction>({
  kind: fc.constant('kept'),
  ...place,
  signature: aSignature,
  format: fc.constantFrom(0, 1),
  bytes: fc.uint8Array({ maxLength: 100 }),
})

/** Any record of the log. Amounts and keys cover their whole range, so records are in no order. */
export const aWalletRecord: fc.Arbitrary<WalletRecord> = fc.oneof(
  anySwap,
  aTokenTransfer,
  aSolTransfer,
  aBalanceRecord,
  anUndecoded,
  aKeptTransaction,
)

/** Any refold request. */
export const aRefold = record<RefoldRequest>({
  wallet: fc.integer({ min: 1, max: 10_000 }),
  revision: fc.integer({ min: 1, max: 2 ** 21 - 1 }),
})

/** Any slot marker. */
export const aSlotMarker = record<SlotMarker>({
  slot: natural,
  parent: natural,
  blockTime: unixSeconds,
  solPrice: fc.option(record<SolPrice>({ time: unixSeconds, usdE9: u64 })),
})
