import { Counter, Gauge, Histogram, type Registry } from '../../pipeline/runtime/telemetry.ts'

/** Creates the metrics of the feed. */
export function createFeedMetrics(registry: Registry) {
  const registers = [registry]
  return {
    relaySeconds: new Histogram({
      name: 'feed_relay_seconds',
      help: 'Seconds from the batch of the log that completed a slot to its trades written to every socket.',
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5],
      registers,
    }),
    windowTrades: new Gauge({
      name: 'feed_window_trades',
      help: 'Trades kept in memory for clients that come back.',
      registers,
    }),
    waiting: new Gauge({
      name: 'feed_waiting_records',
      help: 'Swaps and slot markers held back until every partition of the log has passed their slot.',
      registers,
    }),
    repeated: new Counter({
      name: 'feed_repeated_swaps_total',
      help: 'Late swaps of slots out of memory that storage knew: they had been sent before.',
      registers,
    }),
    connections: new Gauge({ name: 'feed_connections', help: 'Open connections.', registers }),
    messages: new Counter({
      name: 'feed_trades_sent_total',
      help: 'Trades sent, each charged one credit.',
      registers,
    }),
    viewMessages: new Counter({
      name: 'feed_view_messages_sent_total',
      help: 'Messages of the channels watchlist and signals sent; free.',
      registers,
    }),
    closes: new Counter({
      name: 'feed_closes_total',
      help: 'Connections ended, by reason.',
      labelNames: ['reason'],
      registers,
    }),
  }
}

/** The metrics of the feed. */
export type FeedMetrics = ReturnType<typeof createFeedMetrics>
