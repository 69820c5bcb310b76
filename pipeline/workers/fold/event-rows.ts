import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import type { Swap } from '../../domain/event.ts'
import type { DecodedRecord, SlotMarker, WalletRecord } from '../../domain/slot.ts'
import type { LateMark } from '../../log/late-order.ts'
import type { LateOrigin } from '../../log/log-message.ts'
import { mapRecordTypes, RECORD_TYPES } from '../../records/record-types.ts'
import type { Row } from '../../store/store.ts'

const { kept: _, ...DECODED_TYPES } = RECORD_TYPES

/** Tables that hold records of the decoder. */
export const DECODED_TABLES = Object.values(DECODED_TYPES).map(({ table }) => table)
/** A table that holds records of the decoder. */
export type DecodedTable = (typeof DECODED_TABLES)[number]

/** Returns the table and the row that a record is stored as. */
export function decodedRow(
  record: DecodedRecord,
  late: LateOrigin | null,
  decoderVersion = DECODER_VERSION,
): [DecodedTable, Row] {
  return [RECORD_TYPES[record.kind].table, recordRow(record, late, decoderVersion)]
}

/**
 * Returns the row that a record is stored as. `late` is null for a record that came in the order of
 * the chain. Only events have a column for it.
 */
export function recordRow(
  record: WalletRecord,
  late: LateOrigin | null = null,
  decoderVersion = DECODER_VERSION,
): Row {
  return ROW_MAKERS[record.kind](record, late ?? 'no', decoderVersion)
}

const ROW_MAKERS = mapRecordTypes(({ fields, computed = {} }) => {
  const stored = Object.entries(fields).flatMap(([name, { column, toColumn }]) =>
    column === null ? [] : [{ name, column, toColumn }],
  )
  const ofRecord = Object.entries(computed)
  const isEvent = 'eventIndex' in fields
  // A copy of an object with every column is faster than adding the columns one by one.
  const names = [...stored.map(({ column }) => column), ...Object.keys(computed)]
  const empty = Object.fromEntries(
    [...names, ...(isEvent ? ['late'] : []), 'decoder_version'].map((name) => [name, null]),
  )
  return (record: WalletRecord, late: string, decoderVersion: number): Row => {
    const values = record as unknown as Readonly<Record<string, never>> // by name of the field
    const row: Record<string, unknown> = { ...empty }
    for (const { name, column, toColumn } of stored) {
      const value = values[name] as never // each is of its field's type
      row[column] = toColumn ? toColumn(value) : value
    }
    for (const [column, compute] of ofRecord) row[column] = compute(record as never)
    if (isEvent) row.late = late
    row.decoder_version = decoderVersion
    return row
  }
})

/** Row of table `late_swaps`. */
export function lateRow(swap: Swap, mark: LateMark): Row {
  return {
    epoch: mark.epoch,
    passed_slot: mark.passedSlot,
    partition: mark.partition,
    offset: mark.offset,
    slot: swap.slot,
    tx_index: swap.txIndex,
    wallet: swap.wallet,
    event_index: swap.eventIndex,
  }
}

/** Row of table `slot_gaps`. */
export function gapRow(gap: { readonly fromSlot: number; readonly toSlot: number }): Row {
  return { to_slot: gap.toSlot, from_slot: gap.fromSlot }
}

/** Row of table `progress`: the newest slot of a partition that a worker has stored. */
export function progressRow(
  worker: string,
  partition: number,
  partitions: number,
  marker: SlotMarker,
): Row {
  return {
    worker,
    partition,
    partitions,
    slot: marker.slot,
    parent: marker.parent,
    block_time: marker.blockTime,
    sol_price_time: marker.solPrice?.time ?? null,
    sol_price_usd_e9: marker.solPrice?.usdE9 ?? null,
  }
}
