import { z } from 'zod'
import { VERSION } from '../../pipeline/runtime/version.ts'
import { componentSchema } from '../items/component-schema.ts'
import { count, seconds, time } from '../items/fields.ts'
import type { StoredSlot } from '../state-reader.ts'
import type { StoragePosition } from '../storage-position.ts'
import { resource } from './resource.ts'

/** Progress of the feed in this process. */
export interface FeedStatus {
  /** The newest slot of which every partition of the log has shown the marker. */
  sealed(): StoredSlot | null
  /** The newest slot that is final, as the newest marker says; null for none (rule K9). */
  finalized(): number | null
  /** The newest slot whose trades were sent. */
  sent(): StoredSlot | null
  connections(): number
}

const slot = count.nullable().describe('Null before the first slot')
const Stage = z.strictObject({ slot, block_time: time.nullable() }).meta({
  id: 'Stage',
  description: 'The newest slot that a stage has completed, and its block time.',
})

const StatusAnswer = componentSchema('StatusAnswer', 'Progress of each stage.', {
  version: z.string().meta({ description: 'Version of the service', examples: ['1.0.0'] }),
  ingest: Stage,
  finalized: z.strictObject({ slot }).meta({
    description:
      'The newest slot that can no longer be withdrawn. Trades of later slots are confirmed, not final',
  }),
  storage: Stage,
  metrics: z
    .strictObject({ slot })
    .meta({ description: 'The newest slot whose events are counted in the metrics of wallets' }),
  feed: z.strictObject({
    slot,
    connections: count.describe('Open feed connections of this process'),
  }),
  audit: z.strictObject({ open_breaks: count, unexplained_breaks: count }).meta({
    description:
      'Places in the histories of wallets at which something is missing: being fetched, and not to be had',
  }),
  lag_seconds: seconds.nullable().meta({
    description:
      'Current time less the block time of the newest slot that is both stored and sent by the feed; null before the first',
  }),
})
export type StatusAnswer = z.infer<typeof StatusAnswer>

/**
 * `GET /status`: progress of each stage; public (rule J4). One worker stores trades and metrics, so
 * both are always equal.
 */
export function status(deps: {
  readonly position: StoragePosition
  readonly feed: FeedStatus
  readonly now: () => number
}) {
  return resource({
    path: '/status',
    price: null,
    isUnlimited: true,
    answersHead: true,
    docs: {
      tag: 'Service',
      summary: 'Progress of each stage',
      description:
        'Each `slot` is the newest one that the stage has completed, null before the first. Ages in answers end at `storage.block_time`. `lag_seconds` is the current time less the block time of the newest slot that is both stored and sent by the feed. Free, and not counted by the rate limits.',
      example: {
        version: '1.0.0',
        ingest: { slot: 432104870, block_time: 1790000000 },
        finalized: { slot: 432104838 },
        storage: { slot: 432104869, block_time: 1790000000 },
        metrics: { slot: 432104869 },
        feed: { slot: 432104870, connections: 12 },
        audit: { open_breaks: 0, unexplained_breaks: 0 },
        lag_seconds: 1,
      },
    },
    answer: StatusAnswer,
    async handle() {
      const { position, feed, now } = deps
      const stored = position.stored()
      const sent = feed.sent()
      return {
        body: {
          version: VERSION,
          ingest: stageOf(feed.sealed()),
          finalized: { slot: feed.finalized() },
          storage: stageOf(stored),
          metrics: { slot: stored?.slot ?? null },
          feed: { slot: sent?.slot ?? null, connections: feed.connections() },
          audit: auditOf(position.breaks()),
          lag_seconds: lagOf(stored, sent, now()),
        },
      }
    },
  })
}

function stageOf(at: StoredSlot | null) {
  return { slot: at?.slot ?? null, block_time: at?.blockTime ?? null }
}

/** Seconds by which the later of the two last stages is behind; null before its first slot. */
function lagOf(stored: StoredSlot | null, sent: StoredSlot | null, nowMs: number): number | null {
  if (stored === null || sent === null) return null
  const blockTime = Math.min(stored.blockTime, sent.blockTime)
  return Math.max(0, Math.floor(nowMs / 1000) - blockTime)
}

function auditOf({ open, unexplained }: ReturnType<StoragePosition['breaks']>) {
  return { open_breaks: open, unexplained_breaks: unexplained }
}
