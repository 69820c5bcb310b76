import type { MalformedTransactionReason } from '../domain/transaction.ts'
import { metricsOf, type Registry } from '../runtime/telemetry.ts'
import type { GivenUp } from './rpc/refusals.ts'
import type { SessionEnd } from './stream/stream-session.ts'

/** The metrics of ingest. No label names a wallet, a slot or a signature (rule I1). */
export function createIngestMetrics(registry: Registry) {
  const { counter, counterOf, gauge, histogram } = metricsOf(registry)
  const metrics = {
    updates: counter('ingest_updates_total', 'Updates received from the Yellowstone stream.', [
      'kind',
    ]),
    updateBytes: counter('ingest_update_bytes_total', 'Bytes of the updates received.'),
    streams: counterOf<SessionEnd['kind']>(
      'ingest_streams_total',
      'Streams that ended, by reason.',
      'end',
      [
        ...(['failed', 'refused', 'silent', 'behind', 'closed', 'out_of_range'] as const),
        ...(['no_replay', 'too_many_addresses', 'filter_refused'] as const),
      ],
    ),
    sealedSlots: counter('ingest_sealed_slots_total', 'Slots sealed, in the order of the chain.'),
    sealSeconds: histogram(
      'ingest_seal_lag_seconds',
      'Seconds from the block time of a slot to its seal.',
      [0.5, 1, 2, 3, 5, 10, 30, 60, 300, 3600],
    ),
    appendSeconds: histogram(
      'ingest_append_seconds',
      'Seconds from the seal of a slot to its acknowledgement by the log.',
      [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 30],
    ),
    transactions: counter(
      'ingest_transactions_total',
      'Transactions of sealed slots, by whether they were in time.',
      ['when'],
    ),
    dropped: counter(
      'ingest_dropped_transactions_total',
      'Transactions dropped: duplicates, of slots not on the chain, of slots too old to check, unrelated to any wallet.',
      ['reason'],
    ),
    malformed: counterOf<MalformedTransactionReason | 'not_an_update' | 'not_a_price_pool'>(
      'ingest_malformed_total',
      'Updates and transactions that could not be read.',
      'reason',
      [
        ...(['not_an_update', 'not_a_price_pool', 'not_a_transaction', 'no_meta'] as const),
        ...(['bad_place', 'bad_signature', 'bad_account_keys', 'bad_balances'] as const),
        ...(['bad_token_balance', 'bad_instruction', 'unknown_encoding'] as const),
      ],
    ),
    records: counter('ingest_records_total', 'Records sent to the log.', ['kind']),
    unknown: counter(
      'ingest_unknown_total',
      'Swaps seen only by their balance changes, and transactions that could not be decoded: see `operator programs`.',
      ['kind'],
    ),
    gapSlots: counter(
      'ingest_gap_slots_total',
      'Slots skipped because the gap was too long to fetch.',
    ),
    finalizedSlot: gauge(
      'ingest_finalized_slot',
      'The newest slot of the finalized chain that sealed slots were compared with.',
    ),
    withdrawnSlots: counterOf(
      'ingest_withdrawn_slots_total',
      'Sealed slots in which the finalized chain has another block (replaced) or none (vanished).',
      'outcome',
      ['replaced', 'vanished'],
    ),
    unverifiedSlots: counter(
      'ingest_unverified_slots_total',
      'Sealed slots that could not be compared with the finalized chain, or replaced by its block.',
    ),
    refused: counterOf<GivenUp>(
      'ingest_refused_total',
      'What RPC refused for good: a block, a gap of slots, a block to compare, a list of finalized blocks, the decimals of a mint.',
      'what',
      ['block', 'gap', 'recheck', 'finality', 'mint'],
    ),
    openBackfills: gauge(
      'backfill_open_jobs',
      'Backfills of one wallet each that are not done, by reason: gap (a hole in the log), added (a new wallet), operator (of a command that runs in this process).',
      ['reason'],
    ),
    doneBackfills: counter(
      'backfill_done_jobs_total',
      'Backfills of one wallet each that were done, by reason as `backfill_open_jobs`.',
      ['reason'],
    ),
    backfillTransactions: counter(
      'backfill_transactions_total',
      'Transactions that backfills fetched and handed to the log, by reason.',
      ['reason'],
    ),
    rpcBlocks: counter('ingest_rpc_blocks_total', 'Blocks fetched over RPC, by purpose.', ['why']),
    rpcRequests: counter('ingest_rpc_requests_total', 'Requests to the RPC server, by outcome.', [
      'method',
      'outcome',
    ]),
    repairCalls: counter(
      'repair_rpc_calls_total',
      'Requests to the RPC server for repairs of breaks.',
    ),
    repairs: counterOf(
      'repairs_total',
      'Tries to repair a break, by outcome: found, nothing, not_traded (a mint that the wallet never traded).',
      'outcome',
      ['found', 'nothing', 'not_traded'],
    ),
    heldBytes: gauge(
      'ingest_held_bytes',
      'Bytes of transactions in memory: of unsealed slots, and of sealed slots waiting for the log.',
      ['where'],
    ),
    isLeader: gauge(
      'ingest_is_leader',
      '1 while this process appends slots to the log; 0 on a standby.',
    ),
    slot: gauge('ingest_slot', 'The newest slot acknowledged by the log.'),
  }
  for (const reason of ['gap', 'added', 'operator']) {
    metrics.openBackfills.set({ reason }, 0)
    metrics.doneBackfills.inc({ reason }, 0)
    metrics.backfillTransactions.inc({ reason }, 0)
  }
  return metrics
}

/** See `createIngestMetrics`. */
export type IngestMetrics = ReturnType<typeof createIngestMetrics>
