import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { readStorageMarker } from '../../pipeline/store/tables/progress.ts'
import { startFold } from '../../pipeline/workers/fold/fold.ts'
import type { StoredSlot } from '../state-reader.ts'
import { cursorKeys } from './cursor-keys.ts'
import { fund, startFeed } from './start-feed.ts'

const logger = createLogger('silent')
const PARTITIONS = 3

/**
 * The log and the storage behind several processes of the feed: what is appended is stored by the
 * real worker, as far as it is let. Each world goes on on the chain of the one before with an empty
 * log, as one process with everything embedded does after a restart.
 */
export async function startFeedWorld(store: Store, epoch: number) {
  const log = createMemoryLog(
    { logger, registry: createRegistry() },
    { partitions: PARTITIONS, epoch, maxBatch: 3 },
  )
  const before = await readStorageMarker(store)
  let stored: StoredSlot | null = before && { slot: before.slot, blockTime: before.blockTime }
  const storage = createGate()
  /** What each process reads of the log. */
  const relays: ReturnType<typeof createGate>[] = []
  const consume = log.consume.bind(log)
  log.consume = (options, onBatch) => {
    if (options.mode !== 'follow') return consume(options, onBatch)
    const gate = createGate()
    relays.push(gate)
    return consume(options, async (batch) => {
      await gate.opened()
      await onBatch(batch)
    })
  }
  let tell: () => void = () => {}
  const fold = await startFold({
    log,
    logger,
    registry: createRegistry(),
    windowMs: 1,
    onBug: (error) => {
      throw error
    },
    store: {
      ...store,
      async insert(table, rows, options) {
        await storage.opened()
        await store.insert(table, rows, options)
        if (table !== 'progress') return
        const marker = await readStorageMarker(store)
        stored = marker && { slot: marker.slot, blockTime: marker.blockTime }
        tell()
      },
    },
  })
  const feeds: Awaited<ReturnType<typeof startFeed>>[] = []
  return {
    log,
    feeds,
    stored: () => stored,
    slot: before?.slot ?? 100,
    /** Processes take turns in which of two secret keys is their first. */
    async addFeed() {
      const keys = feeds.length % 2 === 0 ? cursorKeys(1, 2) : cursorKeys(2, 1)
      const relay = { windowTrades: 8, quietMs: 1 }
      const options = { log, keys, store, stored: () => stored, relay, connectionsPerKey: 100 }
      const feed = await startFeed({ ...options, keepLog: true })
      await fund(feed.meter, 'alice', 1_000_000)
      feeds.push(feed)
      return feed
    },
    storage,
    relays,
    async settled(slot: number) {
      while ((stored?.slot ?? -1) < slot)
        await new Promise<void>((resolve) => {
          tell = resolve
        })
    },
    resume() {
      for (const gate of [storage, ...relays]) gate.resume()
    },
    async close() {
      await Promise.all(feeds.map((feed) => feed.close()))
      await fold.stop()
      await log.close()
    },
  }
}

/** Work that can be made to wait. */
function createGate() {
  let open: () => void = () => {}
  let opened = Promise.resolve()
  let isPaused = false
  return {
    opened: () => opened,
    pause() {
      if (isPaused) return
      isPaused = true
      opened = new Promise((resolve) => {
        open = resolve
      })
    },
    resume() {
      isPaused = false
      open()
    },
  }
}
