import { metricsOf, type Registry } from '../pipeline/runtime/telemetry.ts'

/**
 * Creates the metrics of the API. Label `resource` is the declared path, never the requested one.
 */
export function createApiMetrics(registry: Registry) {
  const { counter, counterOf, histogram } = metricsOf(registry)
  return {
    requestSeconds: histogram(
      'api_request_seconds',
      'Seconds from the header of a request to its answer.',
      [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      ['resource', 'status'],
    ),
    creditsCharged: counter('api_credits_charged_total', 'Credits charged for answers.', [
      'resource',
    ]),
    connectionsRefused: counterOf(
      'api_connections_refused_total',
      'Connections closed at once: too many in total (total), or from one client address (address).',
      'reason',
      ['total', 'address'],
    ),
    requestsShed: counter(
      'api_requests_shed_total',
      'Product calls refused with 503 because the event loop could not keep up (rule D9). No other metric counts them.',
    ),
    eventsDropped: counter(
      'api_account_events_dropped_total',
      'Security events of accounts that were dropped because the buffer was full.',
    ),
    logins: counterOf(
      'api_logins_total',
      'Login attempts by outcome: ok, or the fault.',
      'outcome',
      [
        ...['ok', 'no_message', 'unknown_nonce', 'bad_signature', 'used_nonce'],
        ...['domain', 'address', 'statement', 'uri', 'version', 'chain', 'nonce'],
        ...['issued_at', 'expiration_time', 'not_before'],
      ],
    ),
  }
}

/** The metrics of the API. */
export type ApiMetrics = ReturnType<typeof createApiMetrics>

/**
 * Adds the times that grow old when a stage of the service, or the roll-up of usage, stands still.
 * They are unix seconds, so that an alert compares them with the time of Prometheus.
 */
export function collectProgress(
  registry: Registry,
  stages: Readonly<Record<'ingest' | 'storage' | 'feed', () => { blockTime: number } | null>>,
  credits: { readonly rolledUpAt: number | null },
): void {
  const { readings } = metricsOf(registry)
  readings(
    'stage_block_time_seconds',
    'Block time (unix seconds) of the newest slot that a stage has completed: ingest (it is on the log), storage, feed. See `GET /status`.',
    ['stage'],
    () =>
      Object.entries(stages).flatMap(([stage, newest]) => {
        const at = newest()
        return at === null ? [] : [[{ stage }, at.blockTime] as const]
      }),
  )
  readings(
    'credits_rolled_up_time_seconds',
    'Unix seconds at which usage was last rolled up into the ledger completely.',
    [],
    () => (credits.rolledUpAt === null ? [] : [[{}, credits.rolledUpAt / 1000]]),
  )
}
