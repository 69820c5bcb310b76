import { createCursorCodec } from '../../api/cursor.ts'
import { ALONE, createHookLeases } from '../../api/delivery/hook-leases.ts'
import { HookPool } from '../../api/delivery/hook-pool.ts'
import { hookSources } from '../../api/delivery/hook-source.ts'
import { createReceivers } from '../../api/delivery/receiver.ts'
import { createWebhookMetrics, exportHookPool } from '../../api/delivery/telemetry.ts'
import { StateReader } from '../../api/state-reader.ts'
import { followStorage } from '../../api/storage-position.ts'
import { Feed } from '../../api/stream/feed.ts'
import { WebhookSecrets } from '../../api/webhooks/signature.ts'
import { createPerturb } from '../../pipeline/domain/perturbation.ts'
import type { FeedSecrets } from './api.ts'
import type { ServiceContext } from './context.ts'
import type { ServicePart } from './open-parts.ts'
import type { Stores } from './stores.ts'

/**
 * Starts to deliver webhooks (rule M1). `feed`: that of the API of this process; null: it has none,
 * so this role follows the log itself.
 */
export async function startWebhooks(
  context: ServiceContext,
  stores: Stores,
  { secrets, feed: shared }: { readonly secrets: FeedSecrets; readonly feed: Feed | null },
): Promise<ServicePart> {
  const { config, logger, registry } = context
  const { store, credits, redis } = stores
  const cursors = createCursorCodec(secrets)
  const own = shared === null ? await startOwnFeed(context, stores, secrets) : null
  const feed = shared ?? own?.feed
  if (feed === undefined) throw new Error('there is a feed of this process or an own one')
  const receivers = createReceivers({ loopback: config.api.WEBHOOK_LOOPBACK })
  const metrics = createWebhookMetrics(registry)
  const pool = new HookPool({
    store,
    leases: redis === null ? ALONE : createHookLeases(redis),
    sources: hookSources(feed, cursors),
    receivers,
    secrets: new WebhookSecrets(secrets.secretKeys),
    credits,
    onAttempt: (_hook, { failure, latencyMs }) => {
      metrics.attempts.inc({ outcome: failure ?? 'accepted' })
      metrics.seconds.observe(latencyMs / 1000)
    },
    logger,
    now: Date.now,
  })
  exportHookPool(registry, pool)
  await pool.start()
  return {
    ready: { meter: () => credits.ping() },
    async close() {
      await pool.stop()
      await receivers.close()
      await own?.close()
    },
  }
}

/** Follows the log in a process without an API. */
async function startOwnFeed(
  context: ServiceContext,
  { store, log, credits }: Stores,
  secrets: FeedSecrets,
) {
  const { config, logger, registry, fail } = context
  const reader = new StateReader({ store, log, logger, onGap: fail, onStage: context.onStage })
  const position = followStorage({ store, logger, reader })
  const feed = new Feed({
    log,
    cursors: createCursorCodec(secrets),
    credits,
    connectionsPerKey: 0,
    retentionHours: config.api.FEED_RETENTION_HOURS,
    logger,
    registry,
    perturb: createPerturb(config.privacySalt),
    onStage: context.onStage,
  })
  await position.start()
  await feed.start(position, store)
  credits.start()
  return {
    feed,
    async close() {
      await feed.stop(1000)
      await position.stop()
      await credits.stop()
    },
  }
}
