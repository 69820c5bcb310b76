import { isDeepStrictEqual } from 'node:util'
import type { WalletRecord } from '../../pipeline/domain/slot.ts'
import { createKafkaLog } from '../../pipeline/log/kafka.ts'
import type { EventLog, LogBatch, LogRecord } from '../../pipeline/log/log.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import type { Simulator } from '../simulator/simulator.ts'

/** When a slot was first on every partition of the log, in monotonic milliseconds. */
export interface Arrival {
  readonly slot: number
  readonly at: number
}

/** Follows the log of a deployment from its beginning, and compares it with the market. */
export class LogAudit {
  /** In the order in which slots became whole. */
  readonly arrivals: Arrival[] = []
  readonly #log: EventLog
  readonly #partitions: PartitionAudit[]

  private constructor(log: EventLog) {
    this.#log = log
    this.#partitions = Array.from({ length: log.partitions }, () => new PartitionAudit())
  }

  /** Creates the topic if it does not exist. */
  static async open(brokers: string, topicPrefix: string): Promise<LogAudit> {
    const config = { brokers: brokers.split(','), topicPrefix, ssl: false, sasl: null }
    const deps = { logger: createLogger('silent'), registry: createRegistry() }
    const log = await createKafkaLog(config, deps)
    const audit = new LogAudit(log)
    await log.consume({ mode: 'follow', sinceMs: 3_600_000 }, (batch) => audit.#read(batch))
    return audit
  }

  /** The newest slot that is whole; -1 for none. */
  get newest(): number {
    return Math.min(...this.#partitions.map(({ newest }) => newest))
  }

  /**
   * What is wrong with the log up to its newest whole slot: slots that are missing or not linked to
   * the one before, and events that are missing, wrong, or there more than once. What the log voids
   * itself, because its writer was killed within a slot, does not count. Empty: nothing is wrong.
   */
  faults(simulator: Pick<Simulator, 'truth'>): string[] {
    const last = this.newest
    const faults = this.#partitions.flatMap((partition, at) =>
      partition.faults(last).map((fault) => `partition ${at}: ${fault}`),
    )
    const first = this.arrivals[0]?.slot ?? 0
    const found = new Map(this.#partitions.flatMap(({ events }) => [...events]))
    const expected = new Map<string, object>()
    for (let slot = first; slot <= last; slot += 1)
      for (const event of simulator.truth(slot).events) expected.set(keyOf(event), event)
    for (const [key, event] of expected)
      if (!isDeepStrictEqual(comparable(found.get(key)), comparable(event)))
        faults.push(`event ${key}: ${found.has(key) ? 'differs' : 'missing'}`)
    // A restart compares slots before it with RPC, also those before the log began.
    for (const [key, { slot }] of found)
      if (slot >= first && slot <= last && !expected.has(key))
        faults.push(`event ${key}: not of the market`)
    return faults
  }

  close(): Promise<void> {
    return this.#log.close()
  }

  async #read({ partition, records }: LogBatch): Promise<void> {
    for (const entry of records) {
      const before = this.newest
      this.#partitions[partition]?.read(entry)
      if (this.newest > before) this.arrivals.push({ slot: this.newest, at: performance.now() })
    }
  }
}

/** What a partition of the log says, without what it voids. */
class PartitionAudit {
  newest = -1
  readonly events = new Map<string, WalletRecord>()
  readonly #markers = new Map<number, { readonly parent: number; count: number }>()
  readonly #repeated: string[] = []

  read(entry: LogRecord): void {
    if (entry.kind === 'marker') {
      const { slot, parent } = entry.marker
      const count = (this.#markers.get(slot)?.count ?? 0) + 1
      this.#markers.set(slot, { parent, count })
      this.newest = Math.max(this.newest, slot)
    } else if (entry.kind === 'record') {
      const { record, late } = entry
      if (!('eventIndex' in record)) return
      const key = keyOf(record)
      // What a restart fetches again is stored once and never sent (rule K2).
      if (late !== 'backfill' && this.events.has(key)) this.#repeated.push(key)
      this.events.set(key, record)
    } else if (entry.kind === 'withdrawal') {
      const { slot } = entry.withdrawal
      this.#markers.delete(slot)
      for (const [key, record] of this.events) if (record.slot === slot) this.events.delete(key)
      this.newest = Math.max(-1, ...this.#markers.keys())
    }
  }

  faults(last: number): string[] {
    const markers = [...this.#markers].filter(([slot]) => slot <= last).sort(([a], [b]) => a - b)
    return [
      ...markers.flatMap(([slot, { parent, count }], at) => [
        ...(count === 1 ? [] : [`slot ${slot}: ${count} markers`]),
        ...(at === 0 || markers[at - 1]?.[0] === parent ? [] : [`slot ${slot}: no parent`]),
      ]),
      ...this.#repeated.map((key) => `event ${key}: repeated`),
    ]
  }
}

interface Key {
  readonly slot: number
  readonly txIndex: number
  readonly wallet: number
  readonly eventIndex: number
}

function keyOf(event: object): string {
  const { slot, txIndex, wallet, eventIndex } = event as Key // every event has a key
  return `${slot}/${txIndex}/${wallet}/${eventIndex}`
}

/** An event without its price of SOL, which the market's truth does not have. */
function comparable(event: object | undefined): unknown {
  return event && { ...event, solPriceUsdE9: null }
}
