import { Counter, Gauge, Histogram, type Registry } from '../runtime/telemetry.ts'

/** Creates the metrics of the fold worker. */
export function createFoldMetrics(registry: Registry) {
  const registers = [registry]
  return {
    records: new Counter({
      name: 'fold_records_total',
      help: 'Records taken from the log, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    flushSeconds: new Histogram({
      name: 'fold_flush_seconds',
      help: 'Seconds from the start of a flush until all of it is stored.',
      buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60],
      registers,
    }),
    lateEvents: new Counter({
      name: 'fold_late_events_total',
      help: 'New events below the newest event of their wallet.',
      registers,
    }),
    withdrawals: new Counter({
      name: 'fold_withdrawals_total',
      help: 'Withdrawals of slots that never became final, one for each partition.',
      registers,
    }),
    refolds: new Counter({
      name: 'fold_refolds_total',
      help: 'Wallets folded again from their first stored event.',
      registers,
    }),
    slot: new Gauge({
      name: 'fold_slot',
      help: 'Newest slot that this process has stored of all its partitions.',
      registers,
    }),
    cachedWallets: new Gauge({
      name: 'fold_cached_wallets',
      help: 'Wallets whose state is in memory.',
      registers,
    }),
  }
}

/** See `createFoldMetrics`. */
export type FoldMetrics = ReturnType<typeof createFoldMetrics>

/** Creates the metrics of the mint facts worker. */
export function createMintFactsMetrics(registry: Registry) {
  const registers = [registry]
  return {
    waiting: new Gauge({
      name: 'mint_facts_waiting',
      help: 'Traded mints whose facts are still to be requested over RPC.',
      registers,
    }),
    answers: new Counter({
      name: 'mint_facts_answers_total',
      help: 'Mints requested over RPC, by where their metadata is: metaplex, token_2022, none; absent: there is no such mint.',
      labelNames: ['outcome'],
      registers,
    }),
    rpcRequests: new Counter({
      name: 'mint_facts_rpc_requests_total',
      help: 'Requests to the RPC server for facts about mints, by outcome.',
      labelNames: ['method', 'outcome'],
      registers,
    }),
  }
}

/** See `createMintFactsMetrics`. */
export type MintFactsMetrics = ReturnType<typeof createMintFactsMetrics>

/** Creates the metrics of the price fill worker. */
export function createPriceFillMetrics(registry: Registry) {
  return {
    filled: new Counter({
      name: 'price_fill_swaps_total',
      help: 'Swaps that were stored without a SOL price and have one now.',
      registers: [registry],
    }),
  }
}

/** Creates the metrics of filter strategies. */
export function createSignalsMetrics(registry: Registry) {
  const registers = [registry]
  return {
    fired: new Counter({
      name: 'signals_fired_total',
      help: 'Times that a filter strategy fired for a token of the watchlist.',
      registers,
    }),
  }
}

/** Creates the metrics of the trending worker. */
export function createTrendingMetrics(registry: Registry) {
  const registers = [registry]
  return {
    tick: new Gauge({
      name: 'trending_tick',
      help: 'Unix seconds of the newest tick of the watchlist that is stored.',
      registers,
    }),
    tickSeconds: new Histogram({
      name: 'trending_tick_seconds',
      help: 'Seconds to compute and store a tick, without ticks of a catch-up.',
      buckets: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60],
      registers,
    }),
    listed: new Gauge({
      name: 'trending_listed_tokens',
      help: 'Tokens on the watchlist.',
      registers,
    }),
    tokens: new Gauge({
      name: 'trending_known_tokens',
      help: 'Tokens in memory: those with a tracked trade within the last 24 hours.',
      registers,
    }),
    rows: new Counter({
      name: 'trending_rows_total',
      help: 'Rows of the watchlist written, by event: entered, changed, left.',
      labelNames: ['event'],
      registers,
    }),
    reloaded: new Counter({
      name: 'trending_reloaded_tokens_total',
      help: 'Tokens loaded again because their stored past had changed.',
      registers,
    }),
  }
}

/** See `createTrendingMetrics`. */
export type TrendingMetrics = ReturnType<typeof createTrendingMetrics>
