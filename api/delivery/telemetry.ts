import { metricsOf, type Registry } from '../../pipeline/runtime/telemetry.ts'
import { FAILURES } from '../webhooks/deliveries.ts'

/** Creates the metrics of webhooks. */
export function createWebhookMetrics(registry: Registry) {
  const { counterOf, histogram } = metricsOf(registry)
  return {
    attempts: counterOf(
      'webhook_attempts_total',
      'Attempts to deliver to webhooks, by outcome.',
      'outcome',
      ['accepted', ...FAILURES],
    ),
    seconds: histogram(
      'webhook_seconds',
      'Seconds until a receiver answered a delivery, or it failed.',
      [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ),
  }
}

/** Exports how many webhooks a pool runs, and when it last looked at them. */
export function exportHookPool(
  registry: Registry,
  pool: { readonly size: number; readonly checkedAt: number | null },
): void {
  const { readings } = metricsOf(registry)
  readings('webhooks_running', 'Webhooks that this process delivers to.', [], () => [
    [{}, pool.size],
  ])
  readings(
    'webhooks_checked_time_seconds',
    'Unix seconds at which webhooks were last read, and attempts to deliver stored.',
    [],
    () => (pool.checkedAt === null ? [] : [[{}, pool.checkedAt / 1000]]),
  )
}
