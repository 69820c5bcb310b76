import { SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import type { Malformed, Transaction } from '../../pipeline/domain/transaction.ts'
import { normalizeRpc } from '../../pipeline/ingest/wire/normalize-rpc.ts'
import { normalize } from '../../pipeline/ingest/wire/raw-transaction.ts'
import { toBase64Json } from './to-base64-json.ts'
import { type JsonTransaction, toGrpcUpdate } from './to-grpc-update.ts'

type Read = Transaction | Malformed

/** The ways in which a transaction is received: the stream, and RPC in two encodings. */
const RECEIVED = {
  gRPC(json: JsonTransaction, slot: number, index: number): Read {
    const update = SubscribeUpdate.fromPartial({ transaction: toGrpcUpdate(json, slot, index) })
    return normalize({ kind: 'grpc', bytes: SubscribeUpdate.encode(update).finish() })
  },
  'RPC json': (json: JsonTransaction, slot: number, index: number): Read =>
    normalizeRpc(json, { slot, index }),
  'RPC base64': (json: JsonTransaction, slot: number, index: number): Read =>
    normalizeRpc(toBase64Json(json), { slot, index }),
}
const WAYS = Object.keys(RECEIVED) as (keyof typeof RECEIVED)[] // all keys of the object

/** The paths to the decoder: each way, and the bytes that are kept of what it brought. */
export const PATHS = WAYS.flatMap((way) => [way, `kept of ${way}`])

/** A transaction as it reaches the decoder, by path. */
export function readByEveryPath(
  json: JsonTransaction,
  slot: number,
  index: number,
): ReadonlyMap<string, Read> {
  const reads = WAYS.flatMap((way): [string, Read][] => {
    const read = RECEIVED[way](json, slot, index)
    if (read.kind === 'malformed') return [[way, read]]
    const kept = normalize({ kind: 'kept', slot, bytes: read.encoded() })
    return [
      [way, read],
      [`kept of ${way}`, kept],
    ]
  })
  return new Map(reads)
}
