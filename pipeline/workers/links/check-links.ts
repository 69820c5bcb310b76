import { ServiceError } from '../../domain/service-error.ts'
import type { EventLog } from '../../log/log.ts'
import { partitionOf } from '../../log/topics.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import type { Registry } from '../../runtime/telemetry.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import { insertProgress, readCheckedLinks } from '../../store/tables/progress.ts'
import type { StoredRecords } from '../fold/fold.ts'
import type { RunningFold } from '../fold/run-fold.ts'
import { createLinkCheckMetrics } from '../telemetry.ts'
import { LinkChecker } from './link-checker.ts'

/** The worker that checks the chains of links (rule K8). */
export interface LinkCheckWorker {
  /** Notes what the fold has stored. Neither blocks nor throws. */
  note(stored: StoredRecords): void
  /** Stops, and resolves when nothing runs. */
  stop(): Promise<void>
}

/** Dependencies of the worker. */
export interface LinkCheckDeps {
  readonly store: Store
  readonly log: Pick<EventLog, 'partitions'>
  readonly fold: Pick<RunningFold, 'partitions' | 'status'>
  readonly logger: Logger
  readonly registry: Registry
  /** Called with an error that only a bug can cause; the process should end. */
  readonly onBug: (error: unknown) => void
  /** Milliseconds of the wall clock. */
  readonly now?: () => number
  readonly everyMs?: number
}

/** How often the position is stored from which the next start checks. */
const SAVE_EVERY_MS = 10_000

/**
 * Starts the worker: a pass each second over the links that the fold has stored since. After a
 * start, and when other partitions are assigned, it begins with the links beyond the stored
 * position (worker `links` of table `progress`).
 */
export function startLinkCheck(deps: LinkCheckDeps): LinkCheckWorker {
  const { log, fold, logger, now = Date.now, everyMs = 1000 } = deps
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, logger)
  const isMine = (wallet: number) => fold.partitions().includes(partitionOf(wallet, log.partitions))
  const metrics = createLinkCheckMetrics(deps.registry)
  const checker = new LinkChecker({ store, metrics, isMine, now })
  let assigned: readonly number[] = []
  let savedAt = 0

  async function pass(): Promise<void> {
    const partitions = fold.partitions()
    if (partitions.length === 0) return
    if (partitions !== assigned) {
      assigned = partitions
      await checker.recover(await readCheckedLinks(store, partitions))
    }
    const stored = fold.status().slot
    const { slot, time } = await checker.pass()
    const checked = Math.min(slot, stored ?? 0)
    if (checked <= 0 || now() - savedAt < SAVE_EVERY_MS) return
    savedAt = now()
    const marker = { slot: checked, parent: checked, block_time: time }
    const progressFields = { worker: 'links', partitions: log.partitions, ...marker }
    await insertProgress(
      store,
      partitions.map((partition) => ({ ...progressFields, partition })),
    )
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pass()
      await pause(everyMs, stopping.signal)
    }
  }

  const running = run().catch((error: unknown) => {
    if (!(error instanceof ServiceError && error.code === 'closed')) deps.onBug(error)
  })
  return {
    note({ records, refolds, withdrawn }) {
      checker.note(records)
      checker.noteWallets(refolds)
      checker.noteWithdrawn(withdrawn)
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}
