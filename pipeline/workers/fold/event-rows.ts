import type { BlockId } from '../../domain/block-id.ts'
import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import type { Swap } from '../../domain/event.ts'
import type { DecodedRecord, WalletRecord } from '../../domain/slot.ts'
import { swapValueLamports } from '../../domain/swap-value.ts'
import type { LateMark } from '../../log/late-order.ts'
import type { LateOrigin } from '../../log/log-message.ts'
import { mapRecordTypes, RECORD_TYPES } from '../../records/record-types.ts'
import type { Row } from '../../store/store.ts'
import type { ProgressRow, StoredPosition } from '../../store/tables/progress.ts'

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
  const row = FIELD_COLUMNS[record.kind](record)
  if (record.kind === 'swap') row.value_lamports = swapValueLamports(record)
  if ('eventIndex' in record) row.late = late ?? 'no'
  row.decoder_version = decoderVersion
  return row
}

/** Functions that return the columns of a record's fields. */
const FIELD_COLUMNS = mapRecordTypes(({ fields }) => {
  const stored = Object.entries(fields).flatMap(([name, { column, toColumn }]) =>
    column === null ? [] : [{ name, column, toColumn }],
  )
  // A copy of an object with every column is faster than adding the columns one by one.
  const empty = Object.fromEntries(stored.map(({ column }) => [column, null]))
  return (record: WalletRecord) => {
    const row: Record<string, unknown> = { ...empty }
    for (const { name, column, toColumn } of stored) {
      const value = record[name as keyof WalletRecord] as never // of the type of its field
      row[column] = toColumn ? toColumn(value) : value
    }
    return row
  }
})

/** Row of table `late_swaps`. */
export function lateRow(swap: Swap, mark: LateMark, blockId: BlockId | null): Row {
  return {
    epoch: mark.epoch,
    passed_slot: mark.passedSlot,
    partition: mark.partition,
    offset: mark.offset,
    slot: swap.slot,
    tx_index: swap.txIndex,
    wallet: swap.wallet,
    event_index: swap.eventIndex,
    block_id: blockId,
  }
}

/** Row of table `slot_gaps`. */
export function gapRow(gap: { readonly fromSlot: number; readonly toSlot: number }): Row {
  return { to_slot: gap.toSlot, from_slot: gap.fromSlot }
}

/** Row of table `progress`: how far a worker has stored a partition. */
export function progressRow(
  worker: string,
  partition: number,
  partitions: number,
  { marker, highest, logId, nextOffset, logTime, fence, generation }: StoredPosition,
): ProgressRow {
  return {
    worker,
    partition,
    partitions,
    log_id: logId,
    next_offset: nextOffset,
    log_time: logTime,
    fence,
    generation,
    slot: highest,
    complete_slot: marker.slot,
    parent: marker.parent,
    block_time: marker.blockTime,
    sol_price_time: marker.solPrice?.time ?? null,
    sol_price_usd_e9: marker.solPrice?.usdE9 ?? null,
  }
}
