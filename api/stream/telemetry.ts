import { metricsOf, type Registry } from '../../pipeline/runtime/telemetry.ts'
import { END_REASONS } from './protocol-handler.ts'

/** Creates the metrics of the feed. */
export function createFeedMetrics(registry: Registry) {
  const { counter, counterOf, gauge, histogram } = metricsOf(registry)
  return {
    relaySeconds: histogram(
      'feed_relay_seconds',
      'Seconds from the batch of the log that completed a slot to its trades written to every socket.',
      [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5],
    ),
    windowTrades: gauge('feed_window_trades', 'Trades kept in memory for clients that come back.'),
    waiting: gauge(
      'feed_waiting_records',
      'Swaps and slot markers held back until every partition of the log has passed their slot.',
    ),
    repeated: counter(
      'feed_repeated_swaps_total',
      'Late swaps of slots out of memory that storage knew: they had been sent before.',
    ),
    connections: gauge('feed_connections', 'Open connections.'),
    messages: counter('feed_trades_sent_total', 'Trades sent, each charged one credit.'),
    retractions: counter(
      'feed_retracted_trades_total',
      'Trades published and then withdrawn, because their block never became final.',
    ),
    oldWithdrawals: counter(
      'feed_old_withdrawals_total',
      'Withdrawals of slots no longer in memory, by slot and partition: connected clients get the retractions from storage.',
    ),
    viewMessages: counter(
      'feed_view_messages_sent_total',
      'Messages of the channels watchlist and signals sent; free.',
    ),
    closes: counterOf('feed_closes_total', 'Connections ended, by reason.', 'reason', [
      ...END_REASONS,
      'client',
      'protocol_error',
    ]),
  }
}

/** The metrics of the feed. */
export type FeedMetrics = ReturnType<typeof createFeedMetrics>
