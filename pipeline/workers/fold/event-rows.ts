import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import type {
  BalanceRecord,
  KeptTransaction,
  SolTransfer,
  Swap,
  TokenTransfer,
  Undecoded,
} from '../../domain/event.ts'
import type { DecodedRecord, SlotMarker } from '../../domain/slot.ts'
import { swapValueLamports } from '../../domain/swap-value.ts'
import type { LateMark } from '../../log/late-order.ts'
import type { LateOrigin } from '../../log/log-message.ts'
import type { Row } from '../../store/store.ts'

/** Tables that hold records of the decoder. */
export const DECODED_TABLES = [
  'swaps',
  'transfers',
  'sol_transfers',
  'sol_balances',
  'undecoded',
] as const
/** A table that holds records of the decoder. */
export type DecodedTable = (typeof DECODED_TABLES)[number]

/** Returns the table and the row that a record is stored as. */
export function decodedRow(
  record: DecodedRecord,
  late: LateOrigin | null,
  decoderVersion = DECODER_VERSION,
): [DecodedTable, Row] {
  switch (record.kind) {
    case 'swap':
      return ['swaps', swapRow(record, late, decoderVersion)]
    case 'token_transfer':
      return ['transfers', transferRow(record, late, decoderVersion)]
    case 'sol_transfer':
      return ['sol_transfers', solTransferRow(record, late, decoderVersion)]
    case 'balance':
      return ['sol_balances', balanceRow(record, decoderVersion)]
    case 'undecoded':
      return ['undecoded', undecodedRow(record, decoderVersion)]
  }
}

/** Row of table `swaps`. `late` is null for a swap that came in the order of the chain. */
export function swapRow(
  swap: Swap,
  late: LateOrigin | null,
  decoderVersion = DECODER_VERSION,
): Row {
  return {
    slot: swap.slot,
    tx_index: swap.txIndex,
    wallet: swap.wallet,
    event_index: swap.eventIndex,
    block_time: swap.blockTime,
    signature: swap.signature,
    side: swap.side,
    base_mint: swap.baseMint,
    base_amount: swap.baseAmount,
    base_decimals: swap.baseDecimals,
    quote_mint: swap.quoteMint,
    quote_amount: swap.quoteAmount,
    program: swap.program,
    program_id: swap.programId,
    pool: swap.pool ?? '',
    confidence: swap.confidence,
    quote_mismatch: swap.quoteMismatch,
    fee_lamports: swap.feeLamports,
    sol_price_usd_e9: swap.solPriceUsdE9,
    value_lamports: swapValueLamports(swap),
    late: late ?? 'no',
    decoder_version: decoderVersion,
  }
}

/** Row of table `transfers`. */
export function transferRow(
  transfer: TokenTransfer,
  late: LateOrigin | null,
  decoderVersion = DECODER_VERSION,
): Row {
  return {
    slot: transfer.slot,
    tx_index: transfer.txIndex,
    wallet: transfer.wallet,
    event_index: transfer.eventIndex,
    block_time: transfer.blockTime,
    signature: transfer.signature,
    direction: transfer.direction,
    mint: transfer.mint,
    amount: transfer.amount,
    decimals: transfer.decimals,
    late: late ?? 'no',
    decoder_version: decoderVersion,
  }
}

/** Row of table `sol_transfers`. */
export function solTransferRow(
  transfer: SolTransfer,
  late: LateOrigin | null,
  decoderVersion = DECODER_VERSION,
): Row {
  return {
    slot: transfer.slot,
    tx_index: transfer.txIndex,
    wallet: transfer.wallet,
    event_index: transfer.eventIndex,
    block_time: transfer.blockTime,
    signature: transfer.signature,
    direction: transfer.direction,
    lamports: transfer.lamports,
    late: late ?? 'no',
    decoder_version: decoderVersion,
  }
}

/** Row of table `sol_balances`. */
export function balanceRow(record: BalanceRecord, decoderVersion = DECODER_VERSION): Row {
  return {
    wallet: record.wallet,
    slot: record.slot,
    tx_index: record.txIndex,
    block_time: record.blockTime,
    lamports: record.lamports,
    decoder_version: decoderVersion,
  }
}

/** Row of table `undecoded`. */
export function undecodedRow(record: Undecoded, decoderVersion = DECODER_VERSION): Row {
  return {
    slot: record.slot,
    tx_index: record.txIndex,
    wallet: record.wallet,
    block_time: record.blockTime,
    signature: record.signature,
    program_id: record.programId,
    reason: record.reason,
    decoder_version: decoderVersion,
  }
}

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

/** Row of table `transactions`, for `insertTransactions`. */
export function transactionRow(record: KeptTransaction, decoderVersion = DECODER_VERSION): Row {
  const { buffer, byteOffset, length } = record.bytes
  return {
    slot: record.slot,
    tx_index: record.txIndex,
    block_time: record.blockTime,
    signature: record.signature,
    format: record.format,
    base64: Buffer.from(buffer, byteOffset, length).toString('base64'),
    decoder_version: decoderVersion,
  }
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
