import { metricsOf, type Registry } from '../runtime/telemetry.ts'

/** Creates the metrics of the fold worker. */
export function createFoldMetrics(registry: Registry) {
  const { counter, gauge, histogram } = metricsOf(registry)
  return {
    records: counter('fold_records_total', 'Records taken from the log, by kind.', ['kind']),
    flushSeconds: histogram(
      'fold_flush_seconds',
      'Seconds from the start of a flush until all of it is stored.',
      [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60],
    ),
    lateEvents: counter(
      'fold_late_events_total',
      'New events below the newest event of their wallet.',
    ),
    withdrawals: counter(
      'fold_withdrawals_total',
      'Withdrawals of slots that never became final, one for each partition.',
    ),
    refolds: counter('fold_refolds_total', 'Wallets folded again from their first stored event.'),
    backgroundRefolds: gauge(
      'fold_background_refolds',
      'Wallets that wait to be folded again in the background, or are.',
    ),
    holes: counter(
      'fold_holes_total',
      'Holes between storage and the log, by partition: slots that the log skips, or offsets that it lost. A backfill is opened for each.',
      ['lost'],
    ),
    slot: gauge('fold_slot', 'Newest slot that this process has stored of all its partitions.'),
    cachedWallets: gauge('fold_cached_wallets', 'Wallets whose state is in memory.'),
  }
}

/** See `createFoldMetrics`. */
export type FoldMetrics = ReturnType<typeof createFoldMetrics>

/** Creates the metrics of the check of links. */
export function createLinkCheckMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry)
  return {
    links: counter(
      'link_checks_total',
      'Links checked, by outcome: fits, doubtful (something may be missing before it), late.',
      ['outcome'],
    ),
    breaks: counter(
      'chain_break_changes_total',
      'Breaks in the chains of links of accounts that were opened or closed.',
      ['change'],
    ),
    open: gauge('chain_breaks', 'Breaks in the chains of links that are open or unexplained now.', [
      'state',
    ]),
    oldest: gauge(
      'chain_break_oldest_seconds',
      'Seconds since the oldest open break was opened; 0 without one.',
    ),
  }
}

/** See `createLinkCheckMetrics`. */
export type LinkCheckMetrics = ReturnType<typeof createLinkCheckMetrics>

/** Creates the metrics of the mint facts worker. */
export function createMintFactsMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry)
  return {
    waiting: gauge(
      'mint_facts_waiting',
      'Traded mints whose facts are still to be requested over RPC.',
    ),
    answers: counter(
      'mint_facts_answers_total',
      'Mints requested over RPC, by where their metadata is: metaplex, token_2022, none; absent: there is no such mint.',
      ['outcome'],
    ),
    rpcRequests: counter(
      'mint_facts_rpc_requests_total',
      'Requests to the RPC server for facts about mints, by outcome.',
      ['method', 'outcome'],
    ),
  }
}

/** See `createMintFactsMetrics`. */
export type MintFactsMetrics = ReturnType<typeof createMintFactsMetrics>

/** Creates the metrics of the search for deposits. */
export function createDepositMetrics(registry: Registry) {
  const { counter } = metricsOf(registry)
  return {
    rpcRequests: counter(
      'deposits_rpc_requests_total',
      'Requests to the RPC server for payments, by outcome.',
      ['method', 'outcome'],
    ),
  }
}

/** Creates the metrics of the price fill worker. */
export function createPriceFillMetrics(registry: Registry) {
  const { counter } = metricsOf(registry)
  return {
    filled: counter(
      'price_fill_swaps_total',
      'Swaps that were stored without a SOL price and have one now.',
    ),
  }
}

/** Creates the metrics of filter strategies. */
export function createSignalsMetrics(registry: Registry) {
  const { counter } = metricsOf(registry)
  return {
    fired: counter(
      'signals_fired_total',
      'Times that a filter strategy fired for a token of the watchlist.',
    ),
  }
}

/** Creates the metrics of the trending worker. */
export function createTrendingMetrics(registry: Registry) {
  const { counter, gauge, histogram } = metricsOf(registry)
  return {
    tick: gauge(
      'trending_tick',
      'Unix seconds of the newest tick of the watchlist that is stored.',
    ),
    tickSeconds: histogram(
      'trending_tick_seconds',
      'Seconds to compute and store a tick, without ticks of a catch-up.',
      [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60],
    ),
    listed: gauge('trending_listed_tokens', 'Tokens on the watchlist.'),
    tokens: gauge(
      'trending_known_tokens',
      'Tokens in memory: those with a tracked trade within the last 24 hours.',
    ),
    rows: counter(
      'trending_rows_total',
      'Rows of the watchlist written, by event: entered, changed, left.',
      ['event'],
    ),
    reloaded: counter(
      'trending_reloaded_tokens_total',
      'Tokens loaded again because their stored past had changed.',
    ),
  }
}

/** See `createTrendingMetrics`. */
export type TrendingMetrics = ReturnType<typeof createTrendingMetrics>

/** Creates the metrics of the roller. */
export function createRollupMetrics(registry: Registry) {
  const { gauge, histogram } = metricsOf(registry)
  return {
    completeUntil: gauge(
      'rollups_complete_until',
      'Unix seconds of the newest block that is wholly in wallet_days and token_hours.',
    ),
    passSeconds: histogram(
      'rollups_pass_seconds',
      'Seconds of a pass that computes again what changed since the previous one.',
      [0.1, 0.2, 0.5, 1, 2, 5, 10, 60, 600],
    ),
  }
}

/** See `createRollupMetrics`. */
export type RollupMetrics = ReturnType<typeof createRollupMetrics>
