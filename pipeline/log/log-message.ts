import type { RefoldRequest, SlotMarker, WalletRecord } from '../domain/slot.ts'

/**
 * What one entry of a partition holds: a slot's marker, one record of a wallet, or a request to
 * fold one anew.
 */
export type LogMessage =
  | { readonly kind: 'marker'; readonly marker: SlotMarker }
  | ({ readonly kind: 'record' } & RecordMessage)
  | { readonly kind: 'refold'; readonly refold: RefoldRequest }

/** A record with what is known of how it came here. */
export interface RecordMessage {
  readonly record: WalletRecord
  readonly late: LateOrigin | null
  /**
   * `DECODER_VERSION` of the process that made the record; where it is absent, that is this one.
   */
  readonly decoderVersion?: number
}

/**
 * `stream`: seen on the live stream, goes to sockets marked late; `backfill`: fetched history,
 * never goes to a socket.
 */
export type LateOrigin = 'stream' | 'backfill'
