import { blockIdOf } from '../../domain/block-id.ts'
import type { RawTransaction } from '../wire/raw-transaction.ts'
import type { UpdateEnvelope } from '../wire/update-envelope.ts'
import type { SealerEvent } from './sealer-events.ts'

/**
 * The sealer event of an update, or null when the sealer needs nothing of it: pings, statuses other
 * than `confirmed` and `dead`, and block metas without a block time or with an impossible parent.
 * `bytes` is the encoded update.
 */
export function streamEvent(
  envelope: UpdateEnvelope,
  bytes: Uint8Array,
): SealerEvent<RawTransaction, Uint8Array> | null {
  switch (envelope.kind) {
    case 'transaction': {
      const { slot, index, key } = envelope
      const item = { kind: 'grpc', bytes } as const
      return { kind: 'transaction', slot, transaction: { key, index, bytes: bytes.length, item } }
    }
    case 'meta': {
      const { slot, parent, blockTime } = envelope
      if (blockTime === null || parent >= slot) return null
      return { kind: 'meta', slot, parent, blockTime, blockId: blockIdOf(envelope.blockhash) }
    }
    case 'slot':
      return envelope.status === 'other' ? null : { kind: envelope.status, slot: envelope.slot }
    case 'account': {
      const { slot, writeVersion, data } = envelope
      return { kind: 'account', slot, writeVersion, account: data }
    }
    default:
      return null
  }
}
