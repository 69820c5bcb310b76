import { Counter, Histogram, type Registry } from '../pipeline/runtime/telemetry.ts'

/**
 * Creates the metrics of the API. Label `resource` is the declared path, never the requested one.
 */
export function createApiMetrics(registry: Registry) {
  const registers = [registry]
  return {
    requestSeconds: new Histogram({
      name: 'api_request_seconds',
      help: 'Seconds from the header of a request to its answer.',
      labelNames: ['resource', 'status'],
      buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    creditsCharged: new Counter({
      name: 'api_credits_charged_total',
      help: 'Credits charged for answers.',
      labelNames: ['resource'],
      registers,
    }),
    connectionsRefused: new Counter({
      name: 'api_connections_refused_total',
      help: 'Connections closed at once: too many in total (total), or from one client address (address).',
      labelNames: ['reason'],
      registers,
    }),
    eventsDropped: new Counter({
      name: 'api_account_events_dropped_total',
      help: 'Security events of accounts that were dropped because the buffer was full.',
      registers,
    }),
    logins: new Counter({
      name: 'api_logins_total',
      help: 'Login attempts by outcome: ok, or the fault.',
      labelNames: ['outcome'],
      registers,
    }),
  }
}

/** The metrics of the API. */
export type ApiMetrics = ReturnType<typeof createApiMetrics>
