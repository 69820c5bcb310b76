import type { Role } from '../../pipeline/config.ts'
import { createIngestMetrics, type IngestMetrics } from '../../pipeline/ingest/telemetry.ts'
import { createLogger, type Logger } from '../../pipeline/runtime/logger.ts'
import { createReadiness, type Readiness } from '../../pipeline/runtime/readiness.ts'
import type { OnStage, SlotStage } from '../../pipeline/runtime/slot-stage.ts'
import { createStageWatch } from '../../pipeline/runtime/stage-watch.ts'
import { createRegistry, type Registry } from '../../pipeline/runtime/telemetry.ts'
import type { ServiceConfig } from './config.ts'

/** Dependencies of every step of a start. */
export interface ServiceContext {
  readonly config: ServiceConfig
  readonly logger: Logger
  readonly registry: Registry
  readonly readiness: Readiness
  /**
   * Metrics of ingest and backfill, which one registry can hold only once. The first call declares
   * them, so that other roles do not export them.
   */
  readonly ingestMetrics: () => IngestMetrics
  readonly onStage: OnStage
  /** Calls `observer` as well from now on whenever a slot reaches a stage. */
  readonly observeStages: (observer: OnStage) => void
  /** Ends the process: called with a bug, or with the fault of a log that cannot recover. */
  readonly fail: (error: unknown) => void
}

/** Stages of a slot that each role notes. */
const STAGES: Readonly<Record<Role, readonly SlotStage[]>> = {
  ingest: ['received', 'sealed', 'appended'],
  workers: ['read', 'stored'],
  api: ['stored', 'merged'],
  webhooks: ['stored', 'merged'],
}

/** Makes the context of one process. `failed` rejects with the first error given to `fail`. */
export function createContext(
  config: ServiceConfig,
  onStage: OnStage | undefined,
): ServiceContext & { readonly failed: Promise<never> } {
  const registry = createRegistry()
  let fail: (error: unknown) => void = () => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => {}) // no unhandled rejection before the caller looks at it
  let ingestMetrics: IngestMetrics | undefined
  const readiness = createReadiness()
  const watch = createStageWatch(new Set([...config.roles].flatMap((role) => STAGES[role])))
  readiness.add({ stages: watch.check })
  const observers: OnStage[] = onStage ? [watch.note, onStage] : [watch.note]
  return {
    config,
    logger: createLogger(config.logLevel).child({
      pid: process.pid,
      roles: [...config.roles].join(','),
    }),
    registry,
    readiness,
    ingestMetrics() {
      ingestMetrics ??= createIngestMetrics(registry)
      return ingestMetrics
    },
    onStage(stage, slot) {
      for (const observe of observers) observe(stage, slot)
    },
    observeStages: (observer) => observers.push(observer),
    fail,
    failed,
  }
}
