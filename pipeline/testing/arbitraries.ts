import bs58 from 'bs58'
import fc from 'fast-check'
import { addressFromBytes } from '../domain/address.ts'
import type { RefoldRequest, SlotMarker, WalletRecord } from '../domain/slot.ts'
import { MARKER_TYPES, REFOLD_TYPES } from '../log/record.ts'
import { mapRecordTypes } from '../records/record-types.ts'
import type { AnyValueType, ValueRange } from '../records/value-types.ts'

/** Any value of a type. */
function anyOf(range: ValueRange): fc.Arbitrary<unknown> {
  switch (range.kind) {
    case 'integer':
      return fc.integer(range)
    case 'decimal':
      return fc.bigInt({ min: 0n, max: range.max })
    case 'boolean':
      return fc.boolean()
    case 'one_of':
      return fc.constantFrom(...range.values)
    case 'text':
      return fc.string({ minLength: 1, maxLength: range.maxLength })
    case 'address':
      return fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressFromBytes)
    case 'signature':
      return fc.uint8Array({ minLength: 64, maxLength: 64 }).map((bytes) => bs58.encode(bytes))
    case 'bytes':
      return fc.uint8Array({ maxLength: 100 })
    case 'nullable':
      return fc.option(anyOf(range.of))
    case 'object':
      return anObject(range.fields)
  }
}

function anObject(fields: Readonly<Record<string, ValueRange>>): fc.Arbitrary<unknown> {
  const values = Object.entries(fields).map(([name, range]) => [name, anyOf(range)])
  return fc.record(Object.fromEntries(values), { noNullPrototype: true })
}

function rangesOf(types: Readonly<Record<string, AnyValueType>>): Record<string, ValueRange> {
  return Object.fromEntries(Object.entries(types).map(([name, { range }]) => [name, range]))
}

/**
 * Any record of each kind. Amounts and keys cover their whole range, so records are in no order.
 */
export const ANY_RECORD = mapRecordTypes(({ fields }, kind) => {
  const ranges = Object.entries(fields).map(([name, { type }]) => [name, type.range])
  const isOfKind: ValueRange = { kind: 'one_of', values: [kind] }
  return anObject({ kind: isOfKind, ...Object.fromEntries(ranges) }) as fc.Arbitrary<WalletRecord>
})

/** Any record of the log. */
export const aWalletRecord: fc.Arbitrary<WalletRecord> = fc.oneof(...Object.values(ANY_RECORD))

/** Any refold request. */
export const aRefold = anObject(rangesOf(REFOLD_TYPES)) as fc.Arbitrary<RefoldRequest>

/** Any slot marker. */
export const aSlotMarker = anObject(rangesOf(MARKER_TYPES)) as fc.Arbitrary<SlotMarker>
