/** A panel: one time series or several. */
export interface Panel {
  readonly title: string
  /** Grafana's unit: `s`, `bytes`, `ops`, `short`, `percentunit`. */
  readonly unit: 's' | 'bytes' | 'Bps' | 'ops' | 'short' | 'percentunit'
  readonly expr: string
  /** Name of each series; `{{label}}` is replaced. */
  readonly legend: string
}

/** A dashboard: a file of `infra/grafana/dashboards`. */
export interface Dashboard {
  readonly name: string
  readonly title: string
  readonly panels: readonly Panel[]
}

const panel = (title: string, unit: Panel['unit'], expr: string, legend = title): Panel => ({
  title,
  unit,
  expr,
  legend,
})

/** The rate of a counter by labels, or in all; 0 where it has not been counted yet. */
const rate = (metric: string, by = '') =>
  `sum${by === '' ? '' : ` by (${by})`} (rate(${metric}[5m])) or vector(0)`

/** The 99th percentile of a histogram. */
const p99 = (metric: string) =>
  `histogram_quantile(0.99, sum by (le) (rate(${metric}_bucket[5m]))) or vector(0)`

/** Every dashboard, in the order of the menu. */
export const DASHBOARDS: readonly Dashboard[] = [
  {
    name: 'overview',
    title: 'Tracked wallets: overview',
    panels: [
      panel('Lag by stage', 's', 'time() - max by (stage) (stage_block_time_seconds)', '{{stage}}'),
      panel('Trades stored', 'ops', rate('fold_records_total{kind="swap"}')),
      panel('Trades sent on the feed', 'ops', rate('feed_trades_sent_total')),
      panel('Requests', 'ops', rate('api_request_seconds_count', 'status'), '{{status}}'),
      panel(
        'Share of 5xx',
        'percentunit',
        'sum(rate(api_request_seconds_count{status=~"5.."}[5m])) / sum(rate(api_request_seconds_count[5m])) or vector(0)',
      ),
      panel(
        'Credits charged',
        'ops',
        `(${rate('api_credits_charged_total')}) + (${rate('feed_trades_sent_total')})`,
      ),
      panel('Processes', 'short', 'sum by (role) (up{job="tracked-wallets"})', '{{role}}'),
      panel(
        'Conditions of readiness (0: it does not hold)',
        'short',
        'min by (role, check) (ready_check_up)',
        '{{role}} {{check}}',
      ),
      panel(
        'Writes to ClickHouse failing for',
        's',
        'max by (role) (store_writes_failing_seconds)',
        '{{role}}',
      ),
      panel(
        'Firing alerts',
        'short',
        'count by (alertname, severity) (ALERTS{alertstate="firing"}) or vector(0)',
        '{{severity}} {{alertname}}',
      ),
    ],
  },
  {
    name: 'ingest',
    title: 'Tracked wallets: ingest',
    panels: [
      panel('Updates', 'ops', rate('ingest_updates_total', 'kind'), '{{kind}}'),
      panel('Bytes of updates', 'Bps', rate('ingest_update_bytes_total')),
      panel('Slots sealed', 'ops', rate('ingest_sealed_slots_total')),
      panel('Block time to seal, p99', 's', p99('ingest_seal_lag_seconds')),
      panel('Seal to the log, p99', 's', p99('ingest_append_seconds')),
      panel('Records to the log', 'ops', rate('ingest_records_total', 'kind'), '{{kind}}'),
      panel('Slots not final yet', 'short', 'max(ingest_slot) - max(ingest_finalized_slot)'),
      panel('Held in memory', 'bytes', 'sum by (where) (ingest_held_bytes)', '{{where}}'),
      panel(
        'Requests to RPC',
        'ops',
        rate('ingest_rpc_requests_total', 'method, outcome'),
        '{{method}} {{outcome}}',
      ),
      panel('Refused by RPC', 'ops', rate('ingest_refused_total', 'what'), '{{what}}'),
      panel('Malformed', 'ops', rate('ingest_malformed_total', 'reason'), '{{reason}}'),
      panel('Unknown programs', 'ops', rate('ingest_unknown_total', 'kind'), '{{kind}}'),
      panel('Streams that ended', 'ops', rate('ingest_streams_total', 'end'), '{{end}}'),
      panel(
        'Slots withdrawn',
        'ops',
        rate('ingest_withdrawn_slots_total', 'outcome'),
        '{{outcome}}',
      ),
      panel('Open backfills', 'short', 'sum by (reason) (backfill_open_jobs)', '{{reason}}'),
      panel(
        'Backfills done within a day',
        'short',
        'sum by (reason) (increase(backfill_done_jobs_total[1d]))',
        '{{reason}}',
      ),
      panel(
        'Transactions of backfills',
        'ops',
        rate('backfill_transactions_total', 'reason'),
        '{{reason}}',
      ),
      panel('Repairs of breaks', 'ops', rate('repairs_total', 'outcome'), '{{outcome}}'),
    ],
  },
  {
    name: 'workers',
    title: 'Tracked wallets: workers',
    panels: [
      panel('Slots from log to storage', 'short', 'max(ingest_slot) - max(fold_slot)'),
      panel('Records folded', 'ops', rate('fold_records_total', 'kind'), '{{kind}}'),
      panel('Flush, p99', 's', p99('fold_flush_seconds')),
      panel(
        'Wallets in memory',
        'short',
        'sum by (instance) (fold_cached_wallets)',
        '{{instance}}',
      ),
      panel('Late events', 'ops', rate('fold_late_events_total')),
      panel('Wallets folded again', 'ops', rate('fold_refolds_total')),
      panel('Breaks', 'short', 'max by (state) (chain_breaks) or vector(0)', '{{state}}'),
      panel('Age of the oldest break', 's', 'max(chain_break_oldest_seconds)'),
      panel('Links checked', 'ops', rate('link_checks_total', 'outcome'), '{{outcome}}'),
      panel('Mints without facts', 'short', 'max(mint_facts_waiting)'),
      panel('Age of the watchlist', 's', 'time() - max(trending_tick)'),
      panel('Tick of the watchlist, p99', 's', p99('trending_tick_seconds')),
      panel('Tokens on the watchlist', 'short', 'max(trending_listed_tokens)'),
      panel('Pools followed', 'short', 'max(pools_watched)'),
      panel('CPU', 'percentunit', rate('process_cpu_seconds_total', 'role'), '{{role}}'),
      panel(
        'Resident memory',
        'bytes',
        'max by (role) (process_resident_memory_bytes)',
        '{{role}}',
      ),
    ],
  },
  {
    name: 'api',
    title: 'Tracked wallets: API',
    panels: [
      panel('Requests', 'ops', rate('api_request_seconds_count', 'resource'), '{{resource}}'),
      panel('Answer, p99', 's', p99('api_request_seconds')),
      panel(
        'Refusals',
        'ops',
        rate('api_request_seconds_count{status=~"4..|5.."}', 'resource, status'),
        '{{status}} {{resource}}',
      ),
      panel('Feed connections', 'short', 'sum by (instance) (feed_connections)', '{{instance}}'),
      panel('Log to every socket, p99', 's', p99('feed_relay_seconds')),
      panel('Waiting for a partition', 'short', 'max(feed_waiting_records)'),
      panel('Trades in memory', 'short', 'max(feed_window_trades)'),
      panel('Connections ended', 'ops', rate('feed_closes_total', 'reason'), '{{reason}}'),
      panel(
        'Connections refused',
        'ops',
        rate('api_connections_refused_total', 'reason'),
        '{{reason}}',
      ),
      panel('Calls refused under overload', 'ops', rate('api_requests_shed_total')),
      panel('Logins', 'ops', rate('api_logins_total', 'outcome'), '{{outcome}}'),
      panel(
        'Event loop delay, p99',
        's',
        'max by (role) (nodejs_eventloop_lag_p99_seconds)',
        '{{role}}',
      ),
      panel('Heap used', 'bytes', 'max by (role) (nodejs_heap_size_used_bytes)', '{{role}}'),
    ],
  },
  {
    name: 'webhooks',
    title: 'Tracked wallets: webhooks',
    panels: [
      panel('Webhooks', 'short', 'sum by (instance) (webhooks_running)', '{{instance}}'),
      panel('Attempts', 'ops', rate('webhook_attempts_total', 'outcome'), '{{outcome}}'),
      panel(
        'Share of attempts that failed',
        'percentunit',
        'sum(rate(webhook_attempts_total{outcome!="accepted"}[5m])) / sum(rate(webhook_attempts_total[5m])) or vector(0)',
      ),
      panel('Answer of a receiver, p99', 's', p99('webhook_seconds')),
      panel(
        'Since webhooks were last read',
        's',
        'time() - min by (instance) (webhooks_checked_time_seconds)',
        '{{instance}}',
      ),
    ],
  },
  {
    name: 'money',
    title: 'Tracked wallets: money',
    panels: [
      panel(
        'Credits charged by REST',
        'ops',
        rate('api_credits_charged_total', 'resource'),
        '{{resource}}',
      ),
      panel('Credits charged by the feed', 'ops', rate('feed_trades_sent_total')),
      panel(
        'Credits within an hour',
        'short',
        '(sum(increase(api_credits_charged_total[1h])) or vector(0)) + (sum(increase(feed_trades_sent_total[1h])) or vector(0))',
      ),
      panel('Credits of withdrawn trades', 'ops', rate('feed_retracted_trades_total')),
      panel(
        'Refused without credits (402)',
        'ops',
        rate('api_request_seconds_count{status="402"}', 'resource'),
        '{{resource}}',
      ),
      panel(
        'Refused by a rate limit (429)',
        'ops',
        rate('api_request_seconds_count{status="429"}', 'resource'),
        '{{resource}}',
      ),
      panel('Age of the roll-up', 's', 'time() - max(credits_rolled_up_time_seconds)'),
      panel('Meter answers', 'short', 'min(ready_check_up{check="meter"})'),
    ],
  },
]

const WIDTH = 12
const HEIGHT = 8

/** A dashboard as Grafana loads it: https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model */
export function grafanaOf({ name, title, panels }: Dashboard) {
  return {
    uid: `tracked-wallets-${name}`,
    title,
    tags: ['tracked-wallets'],
    timezone: 'utc',
    schemaVersion: 39,
    refresh: '10s',
    time: { from: 'now-1h', to: 'now' },
    panels: panels.map((one, at) => ({
      id: at + 1,
      type: 'timeseries',
      title: one.title,
      datasource: { type: 'prometheus', uid: 'prometheus' },
      gridPos: {
        x: (at % 2) * WIDTH,
        y: Math.floor(at / 2) * HEIGHT,
        w: WIDTH,
        h: HEIGHT,
      },
      fieldConfig: { defaults: { unit: one.unit, min: 0 }, overrides: [] },
      targets: [{ refId: 'A', expr: one.expr, legendFormat: one.legend }],
    })),
  }
}
