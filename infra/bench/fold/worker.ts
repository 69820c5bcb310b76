import type { EventLog } from '../../../pipeline/log/log.ts'
import { createMemoryLog } from '../../../pipeline/log/memory.ts'
import { createLogger } from '../../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { REFOLD_LIMITS } from '../../../pipeline/workers/fold/background-refolds.ts'
import { startFold } from '../../../pipeline/workers/fold/fold.ts'

/**
 * A store that calls `onStored` with the slot that every partition has reached, whenever it
 * advances.
 */
export function watchProgress(
  store: Store,
  partitions: number,
  onStored: (slot: number) => void,
): Store {
  const reached = new Map<number, number>()
  return {
    ...store,
    async insert(table, rows, options) {
      await store.insert(table, rows, options)
      if (table !== 'progress') return
      for (const row of rows) reached.set(Number(row.partition), Number(row.slot))
      if (reached.size === partitions) onStored(Math.min(...reached.values()))
    },
  }
}

/** Starts the fold worker; a bug of it ends the bench. */
export function startBenchFold(store: Store, log: EventLog, refoldLimits = REFOLD_LIMITS) {
  const onBug = (error: unknown) => {
    throw error
  }
  const logger = createLogger('warn')
  return startFold({ store, log, logger, registry: createRegistry(), onBug, refoldLimits })
}

/**
 * A fold worker on a log in memory, which stores what the bench appends. `asRead`: the log as the
 * worker reads it.
 */
export async function startWorker(
  store: Store,
  refoldLimits = REFOLD_LIMITS,
  asRead = (log: EventLog) => log,
) {
  const log: EventLog = createMemoryLog({
    logger: createLogger('warn'),
    registry: createRegistry(),
  })
  const waiting: { readonly slot: number; resolve(): void }[] = []
  const watched = watchProgress(store, log.partitions, (slot) => {
    for (const wait of waiting) if (wait.slot <= slot) wait.resolve()
  })
  const fold = await startBenchFold(watched, asRead(log), refoldLimits)
  return {
    log,
    /** Resolves when the slot is stored. */
    stored: (slot: number) => new Promise<void>((resolve) => waiting.push({ slot, resolve })),
    async stop() {
      await fold.stop(60_000)
      await log.close()
    },
  }
}
