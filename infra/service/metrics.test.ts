import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { ROLES, type Role } from '../../pipeline/config.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { freePort } from '../whole-service/free-port.ts'
import { loadConfig } from './config.ts'
import { startService } from './service.ts'

/** Of every role: it reads the log, writes to the store, and has conditions of readiness. */
const OF_ALL = [
  'log_consumer_restarts_total',
  'log_malformed_records_total',
  'log_redeliveries_total',
  'log_stopped_partitions',
  'ready_check_up',
  'store_writes_failing_seconds',
]

/** Of a process that has a feed: of the API, or for webhooks. */
const FEED = [
  'feed_closes_total',
  'feed_connections',
  'feed_old_withdrawals_total',
  'feed_relay_seconds',
  'feed_repeated_swaps_total',
  'feed_retracted_trades_total',
  'feed_trades_sent_total',
  'feed_view_messages_sent_total',
  'feed_waiting_records',
  'feed_window_trades',
]

const OWN: Readonly<Record<Role, readonly string[]>> = {
  ingest: [
    'backfill_done_jobs_total',
    'backfill_open_jobs',
    'backfill_transactions_total',
    'deposits_rpc_requests_total',
    'ingest_append_seconds',
    'ingest_dropped_transactions_total',
    'ingest_finalized_slot',
    'ingest_gap_slots_total',
    'ingest_held_bytes',
    'ingest_is_leader',
    'ingest_malformed_total',
    'ingest_records_total',
    'ingest_refused_total',
    'ingest_rpc_blocks_total',
    'ingest_rpc_requests_total',
    'ingest_seal_lag_seconds',
    'ingest_sealed_slots_total',
    'ingest_slot',
    'ingest_streams_total',
    'ingest_transactions_total',
    'ingest_unknown_total',
    'ingest_unverified_slots_total',
    'ingest_update_bytes_total',
    'ingest_updates_total',
    'ingest_withdrawn_slots_total',
    'log_append_seconds',
    'log_appended_records_total',
    'repair_rpc_calls_total',
    'repairs_total',
  ],
  workers: [
    'chain_break_changes_total',
    'chain_break_oldest_seconds',
    'chain_breaks',
    'fold_background_refolds',
    'fold_cached_wallets',
    'fold_flush_seconds',
    'fold_holes_total',
    'fold_late_events_total',
    'fold_records_total',
    'fold_refolds_total',
    'fold_slot',
    'fold_withdrawals_total',
    'link_checks_total',
    'mint_facts_answers_total',
    'mint_facts_rpc_requests_total',
    'mint_facts_waiting',
    'pool_accounts_read_total',
    'pool_streams_total',
    'pools_watched',
    'price_fill_swaps_total',
    'rollups_complete_until',
    'rollups_pass_seconds',
    'signals_fired_total',
    'trending_known_tokens',
    'trending_listed_tokens',
    'trending_reloaded_tokens_total',
    'trending_rows_total',
    'trending_tick',
    'trending_tick_seconds',
  ],
  api: [
    'api_account_events_dropped_total',
    'api_connections_refused_total',
    'api_credits_charged_total',
    'api_logins_total',
    'api_request_seconds',
    'api_requests_shed_total',
    'credits_rolled_up_time_seconds',
    'deposits_rpc_requests_total',
    ...FEED,
    'stage_block_time_seconds',
  ],
  webhooks: [
    ...FEED,
    'webhook_attempts_total',
    'webhook_seconds',
    'webhooks_checked_time_seconds',
    'webhooks_running',
  ],
}

for (const role of ROLES)
  test.serial(
    `role ${role} exports its own metrics and those of its process, and no others`,
    async (t) => {
      t.deepEqual(await metricsOf(role), [...OWN[role], ...OF_ALL].sort())
    },
  )

/** Names of the metrics of a process with this role alone, over a simulated chain. */
async function metricsOf(role: Role): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'metrics-'))
  const simulator = await startSimulator({ wallets: 3, clock: { kind: 'running', speed: 1 } })
  try {
    const walletsFile = join(folder, 'wallets.txt')
    writeFileSync(walletsFile, simulator.wallets.join('\n'))
    const { pro, credits } = simulator.paymentAddresses
    const port = await freePort()
    const config = loadConfig({
      YELLOWSTONE_ENDPOINT: simulator.endpoint,
      SOLANA_RPC_URL: simulator.rpcUrl,
      SOL_PRICE_POOL: simulator.solPricePool,
      WALLETS_FILE: walletsFile,
      PAYMENT_ADDRESS_PRO: pro,
      PAYMENT_ADDRESS_CREDITS: credits,
      DATA_DIR: join(folder, 'data'),
      PORT: '0',
      METRICS_PORT: String(port),
      LOG_LEVEL: 'silent',
    })
    const stages = new EventEmitter()
    const isAppended = once(stages, 'appended')
    // `loadConfig` demands real servers for a role alone; they do not change what is exported.
    const service = await startService(
      { ...config, roles: new Set([role]) },
      { onStage: (stage) => stages.emit(stage) },
    )
    try {
      // The first append declares the metrics of the writer.
      if (role === 'ingest') await isAppended
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      const names = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name)
      const ofProcess = names.filter((name) => /^(?:process|nodejs)_/.test(name))
      if (
        !ofProcess.includes('process_cpu_seconds_total') ||
        !ofProcess.includes('nodejs_heap_size_used_bytes')
      )
        throw new Error('the metrics of the process are missing')
      return names.filter((name) => !ofProcess.includes(name)).sort()
    } finally {
      await service.stop()
    }
  } finally {
    await simulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
