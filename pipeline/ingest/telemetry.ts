import { Counter, Gauge, Histogram, type Registry } from '../runtime/telemetry.ts'

/** The metrics of ingest. No label names a wallet, a slot or a signature (rule I1). */
export function createIngestMetrics(registry: Registry) {
  const registers = [registry]
  return {
    updates: new Counter({
      name: 'ingest_updates_total',
      help: 'Updates received from the Yellowstone stream.',
      labelNames: ['kind'],
      registers,
    }),
    updateBytes: new Counter({
      name: 'ingest_update_bytes_total',
      help: 'Bytes of the updates received.',
      registers,
    }),
    streams: new Counter({
      name: 'ingest_streams_total',
      help: 'Streams that ended, by reason.',
      labelNames: ['end'],
      registers,
    }),
    sealedSlots: new Counter({
      name: 'ingest_sealed_slots_total',
      help: 'Slots sealed, in the order of the chain.',
      registers,
    }),
    sealSeconds: new Histogram({
      name: 'ingest_seal_lag_seconds',
      help: 'Seconds from the block time of a slot to its seal.',
      buckets: [0.5, 1, 2, 3, 5, 10, 30, 60, 300, 3600],
      registers,
    }),
    appendSeconds: new Histogram({
      name: 'ingest_append_seconds',
      help: 'Seconds from the seal of a slot to its acknowledgement by the log.',
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 30],
      registers,
    }),
    transactions: new Counter({
      name: 'ingest_transactions_total',
      help: 'Transactions of sealed slots, by whether they were in time.',
      labelNames: ['when'],
      registers,
    }),
    dropped: new Counter({
      name: 'ingest_dropped_transactions_total',
      help: 'Transactions dropped: duplicates, of slots not on the chain, of slots too old to check.',
      labelNames: ['reason'],
      registers,
    }),
    malformed: new Counter({
      name: 'ingest_malformed_total',
      help: 'Updates and transactions that could not be read.',
      labelNames: ['reason'],
      registers,
    }),
    records: new Counter({
      name: 'ingest_records_total',
      help: 'Records sent to the log.',
      labelNames: ['kind'],
      registers,
    }),
    unknown: new Counter({
      name: 'ingest_unknown_total',
      help: 'Swaps seen only by their balance changes, and transactions that could not be decoded: see `operator programs`.',
      labelNames: ['kind'],
      registers,
    }),
    gapSlots: new Counter({
      name: 'ingest_gap_slots_total',
      help: 'Slots skipped because the gap was too long to fetch.',
      registers,
    }),
    finalizedSlot: new Gauge({
      name: 'ingest_finalized_slot',
      help: 'The newest slot of the finalized chain that sealed slots were compared with.',
      registers,
    }),
    withdrawnSlots: new Counter({
      name: 'ingest_withdrawn_slots_total',
      help: 'Sealed slots in which the finalized chain has another block (replaced) or none (vanished).',
      labelNames: ['outcome'],
      registers,
    }),
    unverifiedSlots: new Counter({
      name: 'ingest_unverified_slots_total',
      help: 'Sealed slots that could not be compared with the finalized chain, or replaced by its block.',
      registers,
    }),
    rpcBlocks: new Counter({
      name: 'ingest_rpc_blocks_total',
      help: 'Blocks fetched over RPC, by purpose.',
      labelNames: ['why'],
      registers,
    }),
    rpcRequests: new Counter({
      name: 'ingest_rpc_requests_total',
      help: 'Requests to the RPC server, by outcome.',
      labelNames: ['method', 'outcome'],
      registers,
    }),
    heldBytes: new Gauge({
      name: 'ingest_held_bytes',
      help: 'Bytes of transactions in memory: of unsealed slots, and of sealed slots waiting for the log.',
      labelNames: ['where'],
      registers,
    }),
    slot: new Gauge({
      name: 'ingest_slot',
      help: 'The newest slot acknowledged by the log.',
      registers,
    }),
  }
}

/** See `createIngestMetrics`. */
export type IngestMetrics = ReturnType<typeof createIngestMetrics>
