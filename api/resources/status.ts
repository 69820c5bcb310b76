import { z } from 'zod'
import type { StoragePosition, StoredSlot } from '../storage-position.ts'
import { NONE } from './parameters.ts'
import { resource } from './resource.ts'

/** How far the feed is in this process. */
export interface FeedStatus {
  /** The newest slot whose marker every partition of the log has shown. */
  sealed(): StoredSlot | null
  /** The newest slot whose trades have gone out. */
  sent(): StoredSlot | null
  connections(): number
}

/** `GET /status`: how far each stage is; anybody may ask (decisions J4). One worker stores trades and metrics, so both are equally far. */
export function status(deps: {
  readonly position: StoragePosition
  readonly feed: FeedStatus
  readonly now: () => number
}) {
  const slot = z.int().nullable()
  const stage = z.strictObject({ slot, block_time: z.int().nullable() })
  return resource({
    path: '/status',
    price: null,
    isUnlimited: true,
    params: NONE,
    query: NONE,
    answer: z.strictObject({
      ingest: stage,
      storage: stage,
      metrics: z.strictObject({ slot }),
      feed: z.strictObject({ slot, connections: z.int() }),
      lag_seconds: z.int().nullable(),
    }),
    async handle() {
      const { position, feed, now } = deps
      const stored = position.stored()
      const sent = feed.sent()
      return {
        body: {
          ingest: told(feed.sealed()),
          storage: told(stored),
          metrics: { slot: stored?.slot ?? null },
          feed: { slot: sent?.slot ?? null, connections: feed.connections() },
          lag_seconds:
            sent === null ? null : Math.max(0, Math.floor(now() / 1000) - sent.blockTime),
        },
      }
    },
  })
}

function told(at: StoredSlot | null) {
  return { slot: at?.slot ?? null, block_time: at?.blockTime ?? null }
}
