import type { BlockId } from '../domain/block-id.ts'
import type { RefoldRequest, SlotMarker, WalletRecord, Withdrawal } from '../domain/slot.ts'

/**
 * The content of one entry: the marker of a slot, one record of a wallet, the withdrawal of a slot,
 * or a request to fold a wallet again.
 */
export type LogMessage =
  | { readonly kind: 'marker'; readonly marker: SlotMarker }
  | ({ readonly kind: 'record' } & RecordMessage)
  | { readonly kind: 'withdrawal'; readonly withdrawal: Withdrawal }
  | { readonly kind: 'refold'; readonly refold: RefoldRequest }

/** A record, whether it came late, and the decoder that made it. */
export interface RecordMessage {
  readonly record: WalletRecord
  readonly late: LateOrigin | null
  /** The block of a late record; null if its hash is not known. Only late records have one. */
  readonly blockId?: BlockId | null
  /** `DECODER_VERSION` of the process that made the record; by default that of this process. */
  readonly decoderVersion?: number
}

/**
 * Source of a record that came after its slot was sealed. `stream`: seen on the live stream;
 * sockets receive it, marked late. `backfill`: fetched history; sockets never receive it.
 */
export type LateOrigin = 'stream' | 'backfill'
