import bs58 from 'bs58'
import fc from 'fast-check'
import { addressFromBytes } from '../domain/address.ts'
import type { RefoldRequest, Rewind, SlotMarker, WalletRecord, Withdrawal } from '../domain/slot.ts'
import { mapRecordTypes } from '../records/record-types.ts'
import * as t from '../records/value-types.ts'

const natural = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const walletNumber = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
const unixSeconds = fc.nat({ max: 0xffff_ffff })
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })

/** Any value of each type. */
const ANY_VALUE = new Map<t.AnyValueType, fc.Arbitrary<unknown>>([
  [t.natural, natural],
  [t.walletNumber, walletNumber],
  [t.unixSeconds, unixSeconds],
  [t.u8, fc.nat({ max: 255 })],
  [t.u64, u64],
  [t.u128, fc.bigInt({ min: 0n, max: 2n ** 128n - 1n })],
  [t.boolean, fc.boolean()],
  [t.shortText, fc.string({ minLength: 1, maxLength: 100 })],
  [t.signature, fc.uint8Array({ minLength: 64, maxLength: 64 }).map((b) => bs58.encode(b))],
  [t.pubkey, fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressFromBytes)],
  [t.keptBytes, fc.uint8Array({ maxLength: 100 })],
])

function anyOf(type: t.AnyValueType): fc.Arbitrary<unknown> {
  if (type.of) return fc.option(anyOf(type.of))
  if (type.values) return fc.constantFrom(...type.values)
  const any = ANY_VALUE.get(type)
  if (any === undefined) throw new Error('add the value type to ANY_VALUE')
  return any
}

/**
 * Any record of each kind. Amounts and keys cover their whole range, so records are in no order.
 */
export const ANY_RECORD = mapRecordTypes(({ fields }, kind) => {
  const values = Object.entries(fields).map(([name, { type }]) => [name, anyOf(type)])
  return fc.record(
    { kind: fc.constant(kind), ...Object.fromEntries(values) },
    { noNullPrototype: true },
  ) as fc.Arbitrary<WalletRecord> // the compiler compares descriptors with records
})

/** Any record of the log. */
export const aWalletRecord: fc.Arbitrary<WalletRecord> = fc.oneof(...Object.values(ANY_RECORD))

const object = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T> // every key is required

/** Any refold request. */
export const aRefold = object<RefoldRequest>({
  wallet: walletNumber,
  revision: fc.integer({ min: 1, max: 2 ** 21 - 1 }),
})

const solPrice = fc.option(
  object<{ time: number; usdE9: bigint }>({ time: unixSeconds, usdE9: u64 }),
)

/** Any slot marker. */
export const aSlotMarker = object<SlotMarker>({
  slot: natural,
  parent: natural,
  blockTime: unixSeconds,
  solPrice,
  blockId: fc.option(u64),
  finalized: fc.option(natural),
})

const aRewind = object<Rewind>({ checkpoint: fc.option(aSlotMarker), attempt: natural })

/** Any withdrawal of a slot. */
export const aWithdrawal = object<Withdrawal>({
  slot: natural,
  blockId: fc.option(u64),
  solPrice,
  rewind: fc.option(aRewind),
})
