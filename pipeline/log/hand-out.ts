import { ServiceError } from '../domain/service-error.ts'
import type { Logger } from '../runtime/logger.ts'
import { createOutageLog } from '../runtime/outage-log.ts'
import { pause } from '../runtime/pause.ts'
import type { BatchHandler, LogBatch } from './log.ts'

/**
 * Delivers a batch to its handler until the handler resolves. The pause between attempts doubles
 * from `retryDelayMs` to 50 times that. Returns false if `signal` ended the attempts: the batch is
 * then not done.
 */
export async function handOut<R>(
  batch: LogBatch<R>,
  handler: BatchHandler<R>,
  options: {
    readonly signal: AbortSignal
    readonly retryDelayMs: number
    readonly logger: Logger
    onRedelivery(): void
  },
): Promise<boolean> {
  const { signal, retryDelayMs, logger, onRedelivery } = options
  const { partition } = batch
  const outage = createOutageLog(logger, 'batch failed, handed out again', 'batch is done')
  for (let pauseMs = retryDelayMs; ; pauseMs = Math.min(pauseMs * 2, retryDelayMs * 50)) {
    try {
      await handler(batch)
      outage.worked({ partition })
      return true
    } catch (error) {
      // Any other error's message may quote data.
      const reason = error instanceof ServiceError ? error.message : String((error as Error)?.name)
      outage.failed({ partition, reason })
      logger.debug({ err: error }, 'batch failed')
    }
    if (signal.aborted) return false
    await pause(pauseMs, signal)
    if (signal.aborted) return false
    onRedelivery()
  }
}
