import { metricsOf, type Registry } from '../pipeline/runtime/telemetry.ts'

/**
 * Creates the metrics of the API. Label `resource` is the declared path, never the requested one.
 */
export function createApiMetrics(registry: Registry) {
  const { counter, histogram } = metricsOf(registry)
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
    connectionsRefused: counter(
      'api_connections_refused_total',
      'Connections closed at once: too many in total (total), or from one client address (address).',
      ['reason'],
    ),
    eventsDropped: counter(
      'api_account_events_dropped_total',
      'Security events of accounts that were dropped because the buffer was full.',
    ),
    logins: counter('api_logins_total', 'Login attempts by outcome: ok, or the fault.', [
      'outcome',
    ]),
  }
}

/** The metrics of the API. */
export type ApiMetrics = ReturnType<typeof createApiMetrics>
