import type { EventLog } from '../../pipeline/log/log.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import { StatePublisher } from '../../pipeline/workers/fold/state-publisher.ts'
import { type StateModel, StateReader, type StoredSlot } from '../state-reader.ts'
import { markStored } from './rows.ts'

/** Partitions of the tables that `markStored` writes. */
export const MARKED_PARTITIONS = 2

/** Returns a log in memory with the partitions of `markStored`. */
export const aLog = (): EventLog =>
  createMemoryLog(
    { logger: createLogger('silent'), registry: createRegistry() },
    { partitions: MARKED_PARTITIONS },
  )

/** Stores rows and moves the storage marker as the fold does. */
export class StateWriter {
  /** Rows of inserts come to the log of states with the next marker. */
  readonly store: Store
  readonly #changes: StatePublisher

  constructor(store: Store, log: EventLog) {
    this.#changes = new StatePublisher(store, log.states)
    this.store = this.#changes.store
  }

  async insert(table: string, rows: readonly Row[]): Promise<void> {
    await this.store.insert(table, rows)
  }

  /** Everything up to the slot is stored. Its block time is that of `markStored`. */
  async moveTo(slot: number, blockTime = 1_700_000_000 + slot): Promise<void> {
    const marks = new Map(
      Array.from({ length: MARKED_PARTITIONS }, (_, partition) => [partition, { slot, blockTime }]),
    )
    await markStored(this.store, slot, MARKED_PARTITIONS, blockTime)
    await this.#changes.append(new Map(), marks)
  }
}

/** Starts models over a store, with a writer that moves them. */
export async function followStates(
  store: Store,
  ...models: readonly StateModel[]
): Promise<{
  readonly writer: StateWriter
  readonly reader: StateReader
  /** Moves the marker; returns it. */
  moveTo(slot: number, blockTime?: number): Promise<StoredSlot>
}> {
  const log = aLog()
  const reader = new StateReader({
    store,
    log,
    logger: createLogger('silent'),
    onGap: (error) => {
      throw error
    },
  })
  for (const model of models) reader.add(model)
  await reader.start()
  const writer = new StateWriter(store, log)
  return {
    writer,
    reader,
    async moveTo(slot, blockTime) {
      await writer.moveTo(slot, blockTime)
      return reader.stored() ?? { slot: 0, blockTime: 0 }
    },
  }
}
