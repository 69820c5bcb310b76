import { LIVE_START } from '../../pipeline/domain/slot.ts'
import type { BatchHandler, ConsumeOptions, EventLog, LogBatch } from '../../pipeline/log/log.ts'
import { createMemoryStateLog } from '../../pipeline/log/memory-state-log.ts'

/** Returns an empty log whose batches the test delivers. */
export function handLog(partitions = 1) {
  let handler: BatchHandler = async () => {}
  const next = Array.from({ length: partitions }, () => 0)
  type Entries = LogBatch['records'] extends readonly (infer R)[] ? WithoutOffset<R>[] : never
  const log: EventLog & { hand(entries: Entries, partition?: number): Promise<void> } = {
    partitions,
    states: createMemoryStateLog(partitions),
    epoch: 0,
    checkFormat: async () => {},
    lead: async () => {},
    checkpoint: async () => null,
    extent: async () => ({ id: 'by hand', partitions: new Map() }),
    async consume(_: ConsumeOptions, given: BatchHandler) {
      handler = given
      return { close: async () => {} }
    },
    async hand(entries, partition = 0) {
      const from = next[partition]!
      next[partition] = from + entries.length
      const records = entries.map((entry, i) => ({ offset: BigInt(from + i), ...entry }))
      await handler({ partition, records })
    },
    appendSlot: async () => {},
    appendLate: async () => {},
    appendWithdrawal: async () => {},
    resumePoint: async () => LIVE_START,
    appendedBlocks: async () => [],
    appendRefolds: async () => {},
    settled: async () => {},
    hasConsumer: async () => true,
    ping: async () => {},
    close: async () => {},
  }
  return log
}

type WithoutOffset<R> = R extends unknown ? Omit<R, 'offset'> : never
