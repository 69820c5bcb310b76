import type { Wallets } from '../../domain/wallets.ts'
import { DEFAULT_FOLLOW_LIMITS } from '../../ingest/follow-limits.ts'
import { StandbyStream } from '../../ingest/stream/standby-stream.ts'
import { subscribeRequest } from '../../ingest/stream/subscribe-request.ts'
import { selectionFor } from '../../ingest/stream/wallet-selection.ts'
import type { OpenUpdateStream } from '../../ingest/stream/yellowstone.ts'
import type { EventLog } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createOutageLog } from '../../runtime/outage-log.ts'
import { pause } from '../../runtime/pause.ts'
import type { DepositIndex } from '../deposits/deposits.ts'
import type { IngestConfig } from './ingest.ts'
import { LEADER_WATCH_LIMITS, LeaderWatch, type LeaderWatchLimits } from './leader-watch.ts'

/** Dependencies of a standby. */
export interface StandbyDeps {
  readonly config: Pick<IngestConfig, 'endpoint' | 'xToken' | 'pricePool' | 'selection'>
  readonly wallets: Wallets
  readonly deposits?: Pick<DepositIndex, 'accounts'> | null
  /** Opens streams from the Yellowstone servers. */
  readonly open: OpenUpdateStream
  readonly log: Pick<
    EventLog,
    'partitions' | 'consume' | 'checkpoint' | 'checkFormat' | 'extent' | 'lead'
  >
  readonly logger: Logger
  readonly limits?: LeaderWatchLimits
}

/** A process that is ready to lead. */
export interface Standby {
  /**
   * Resolves with true once this process leads: the log refuses what any other one appends.
   * Resolves with false after `close`. Rejects if the log cannot recover: end the process.
   */
  readonly elected: Promise<boolean>
  /** For the chain follower of the new leader: it continues the stream of the standby. */
  readonly openStream: OpenUpdateStream
  /** Subscribes for these wallets from now on. */
  updateWallets(wallets: Wallets): void
  close(): Promise<void>
}

/** How often the standby looks for the leader. */
const LOOK_MS = 100
/** A look that comes so late finds a process that was suspended. */
const SUSPENDED_MS = 500
/** A Kafka that answers slower than this keeps the leader from appending. */
const SLOW_LOG_MS = 500
/** Slots kept below the newest one on the log. */
const SPARE_SLOTS = 32
/** How far back the standby reads the log at its start. */
const SINCE_MS = 10_000

/**
 * Keeps a stream open and follows the log, until the leader appends nothing although slots have
 * come (rule K14). Then takes over.
 */
export async function startStandby(deps: StandbyDeps): Promise<Standby> {
  const { config, log, deposits, logger, limits = LEADER_WATCH_LIMITS } = deps
  let { wallets } = deps
  const now = () => performance.now()
  // Two standbys should not take over together.
  const moreMs = Math.random() * 200
  const leaderLostMs = limits.leaderLostMs + moreMs
  const leaderUnknownMs = limits.leaderUnknownMs + moreMs
  const patience = { ...limits, leaderLostMs, leaderUnknownMs }
  const watch = new LeaderWatch(log.partitions, patience, now())
  const closing = new AbortController()
  const stream = new StandbyStream({
    ...config,
    open: deps.open,
    limits: DEFAULT_FOLLOW_LIMITS,
    logger,
    wallets: () => wallets,
    selection: config.selection ?? null,
    request: (fromSlot, { addressesPerFilter, selection }) =>
      subscribeRequest({
        wallets,
        accounts: [config.pricePool],
        payments: deposits?.accounts() ?? [],
        fromSlot,
        addressesPerFilter,
        selection: selectionFor(wallets.size, selection),
      }),
    onReceived: (slot, parent) => watch.onReceived(slot, parent, now()),
  })
  const outage = createOutageLog(
    logger,
    'Kafka does not answer: waits for the leader',
    'Kafka answers again',
  )
  const follow = { mode: 'follow', sinceMs: SINCE_MS } as const
  const consumer = await log.consume(follow, async ({ partition, records }) => {
    for (const entry of records)
      if (entry.kind === 'marker') watch.onMarker(partition, entry.marker.slot, now())
    stream.trim(watch.newest - SPARE_SLOTS)
    outage.worked()
  })
  const { slot = -1 } = (await log.checkpoint()) ?? {}
  for (let partition = 0; partition < log.partitions; partition++)
    watch.onMarker(partition, slot, now())
  logger.info('stands by')

  /**
   * Takes over. False if Kafka does not answer: then no leader can append. False also if the leader
   * is of a newer version: its slots do not show here (rule K18).
   */
  async function lead(): Promise<boolean> {
    const asked = now()
    try {
      await log.checkFormat()
      await log.extent()
      if (now() - asked > SLOW_LOG_MS || !watch.isLeaderLost(now())) return false
      await log.lead()
      outage.worked()
      return true
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      if (code === 'newer_format') return false // `/readyz` says so
      if (code !== 'unreachable') throw error
      outage.failed({ reason: message })
      return false
    }
  }

  async function elect(): Promise<boolean> {
    const { signal } = closing
    for (let looked = now(); !signal.aborted; looked = now()) {
      await pause(LOOK_MS, signal)
      if (now() - looked > LOOK_MS + SUSPENDED_MS) watch.restart(now())
      if (signal.aborted || !watch.isLeaderLost(now())) continue
      if (await lead()) return true
      watch.restart(now())
    }
    return false
  }

  const elected = elect().finally(() => void consumer.close())
  elected.catch(() => {}) // awaited by the caller
  return {
    elected,
    openStream: stream.handOver,
    updateWallets(changed) {
      wallets = changed
      stream.reopen()
    },
    async close() {
      closing.abort()
      await Promise.all([stream.close(), consumer.close(), elected.catch(() => {})])
    },
  }
}
