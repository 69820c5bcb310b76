import { createDecoder } from '../../decode/decoder.ts'
import type { ProgramRegistry } from '../../decode/registry.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import type { Wallets } from '../../domain/wallets.ts'
import type { IngestOutput } from '../../ingest/output.ts'
import type { MintDecimals } from '../../ingest/rpc/mint-decimals.ts'
import type { Refusals } from '../../ingest/rpc/refusals.ts'
import type { createSolPrices } from '../../ingest/sol-price.ts'
import type { IngestMetrics } from '../../ingest/telemetry.ts'
import type { EventLog } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { OnStage } from '../../runtime/slot-stage.ts'
import type { DepositIndex } from '../deposits/deposits.ts'
import type { PendingAppend } from './append-window.ts'
import { decodeRecords } from './decode-records.ts'

/** Dependencies of the appender. */
export interface OutputAppenderDeps {
  readonly wallets: Wallets
  readonly programs: ProgramRegistry
  readonly log: EventLog
  readonly decimals: MintDecimals
  readonly prices: ReturnType<typeof createSolPrices>
  readonly priceMaxAgeSeconds: number
  readonly deposits: Pick<DepositIndex, 'note'> | null
  readonly onStage: OnStage | undefined
  /** Called when the log has acknowledged a slot. */
  readonly onAppended: (slot: number, blockTime: number) => void
  readonly metrics: IngestMetrics
  readonly logger: Logger
  /** When to give up decimals that RPC refuses. */
  readonly refusals: Refusals
  /** Ends a wait for decimals: `append` then rejects with `StoppedError`. */
  readonly stop: AbortSignal
}

/** Decodes the output of ingest and appends the records to the log. */
export class OutputAppender {
  readonly #deps: OutputAppenderDeps
  #decoder: ReturnType<typeof createDecoder>

  constructor(deps: OutputAppenderDeps) {
    this.#deps = deps
    this.#decoder = createDecoder(deps.wallets, deps.programs)
  }

  /** Decodes for these wallets from now on. */
  updateWallets(wallets: Wallets): void {
    this.#decoder = createDecoder(wallets, this.#deps.programs)
  }

  /** Resolves when the output is decoded and handed to the log, which acknowledges it later. */
  async append(output: IngestOutput): Promise<PendingAppend> {
    const startedAt = performance.now()
    const { log, metrics, onStage } = this.#deps
    // The parent of the next marker shows the gap to readers of the log, who open a backfill of it.
    if (output.kind === 'gap') return { acknowledged: Promise.resolve() }
    if (output.kind === 'withdrawn') {
      const { slot, blockId, solPrice } = output
      return {
        acknowledged: log.appendWithdrawal({ slot, blockId, solPrice, rewind: null }),
      }
    }
    const records = await this.#recordsOf(output)
    for (const record of records) count(metrics, record)
    if (output.kind === 'late') {
      return { acknowledged: log.appendLate(records, output.origin, output.blockId) }
    }
    const { slot, parent, blockTime, solPrice, blockId, finalized } = output
    onStage?.('decoded', slot)
    const marker = { slot, parent, blockTime, solPrice, blockId, finalized }
    const acknowledged = log.appendSlot({ marker, records }).then(() => {
      onStage?.('appended', slot)
      metrics.slot.set(slot)
      metrics.appendSeconds.observe((performance.now() - startedAt) / 1000)
      this.#deps.onAppended(slot, blockTime)
    })
    return { acknowledged }
  }

  async #recordsOf(output: Extract<IngestOutput, { kind: 'slot' | 'late' }>) {
    const { blockTime } = output
    const transactions = output.kind === 'slot' ? output.transactions : [output.transaction]
    const records: WalletRecord[] = []
    for (const transaction of transactions) {
      this.#deps.deposits?.note(transaction, blockTime)
      const decoded = decodeRecords(this.#decoder, transaction, blockTime, this.#deps)
      // Most transactions need no decimals from RPC, and so no turn of the event loop.
      const found = decoded instanceof Promise ? await decoded : decoded
      for (const record of found) records.push(this.#withPrice(record, blockTime))
    }
    return records
  }

  /** Adds the SOL price at its time to a swap, whatever its quote coin (rules C1, C15). */
  #withPrice(record: WalletRecord, blockTime: number): WalletRecord {
    if (record.kind !== 'swap' || record.quoteMint === null) return record
    const price = this.#deps.prices.at(blockTime, this.#deps.priceMaxAgeSeconds)
    return price === null ? record : { ...record, solPriceUsdE9: price.usdE9 }
  }
}

function count({ records, unknown }: IngestMetrics, record: WalletRecord): void {
  records.inc({ kind: record.kind })
  if (record.kind === 'undecoded') unknown.inc({ kind: 'undecoded' })
  if (record.kind === 'swap' && record.confidence === 'delta_only') {
    unknown.inc({ kind: 'delta_only' })
  }
}
