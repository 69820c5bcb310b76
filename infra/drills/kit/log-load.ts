import { setTimeout as delay } from 'node:timers/promises'
import type { SlotRecords } from '../../../pipeline/domain/slot.ts'
import type { EventLog, LogBatch } from '../../../pipeline/log/log.ts'
import { partitionOf } from '../../../pipeline/log/topics.ts'
import { PartitionTally } from './partition-tally.ts'

/** Records of a slot on each partition; its marker follows them. */
const RECORDS = 2
const ENTRIES = RECORDS + 1
/** Slots that may wait for their acknowledgement, as in ingest. */
const MAX_UNACKNOWLEDGED = 256
const RECOVERS_WITHIN_MS = 120_000

/** Resolves at the first slot after a moment, with the milliseconds that it took. */
class Recovery {
  readonly #waiting = new Set<{ readonly since: number; readonly resolve: (ms: number) => void }>()

  /** A slot that was appended at this time has arrived. */
  arrive(appendedAt: number): void {
    for (const one of this.#waiting) {
      if (appendedAt < one.since) continue
      this.#waiting.delete(one)
      one.resolve(Date.now() - one.since)
    }
  }

  /** Rejects if nothing that was appended after `since` arrives within two minutes. */
  after(since: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`nothing arrived within ${RECOVERS_WITHIN_MS / 1000} s`)),
        RECOVERS_WITHIN_MS,
      )
      const done = (ms: number) => {
        clearTimeout(timer)
        resolve(ms)
      }
      this.#waiting.add({ since, resolve: done })
    })
  }
}

/** Appends slots at a rate, with records on every partition. */
export class LogLoad {
  /** Arrivals of acknowledgements. */
  readonly acknowledged = new Recovery()
  readonly #log: EventLog
  /** By slot, from 1: unix milliseconds of its append. */
  readonly #appendedAt: number[] = [0]
  readonly #unacknowledged = new Set<Promise<void>>()
  #isStopped = false
  #done: Promise<void> = Promise.resolve()

  constructor(log: EventLog) {
    this.#log = log
  }

  get partitions(): number {
    return this.#log.partitions
  }

  /** Slots appended so far. */
  get slots(): number {
    return this.#appendedAt.length - 1
  }

  /** Entries of each partition, of all slots so far. */
  get entries(): number {
    return this.slots * ENTRIES
  }

  appendedAt(slot: number): number {
    return this.#appendedAt[slot] ?? 0
  }

  start(slotsPerSecond: number): void {
    this.#done = this.#append(1000 / slotsPerSecond)
  }

  /** Stops appending. Resolves when all slots are acknowledged. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
    await Promise.all(this.#unacknowledged)
  }

  async #append(everyMs: number): Promise<void> {
    for (let due = Date.now(); !this.#isStopped; due = Math.max(due + everyMs, Date.now() - 1000)) {
      while (this.#unacknowledged.size >= MAX_UNACKNOWLEDGED)
        await Promise.race(this.#unacknowledged)
      const slot = this.#appendedAt.push(Date.now()) - 1
      const appended: Promise<void> = this.#log
        .appendSlot(slotOf(slot, this.partitions))
        .then(() => {
          this.#unacknowledged.delete(appended)
          this.acknowledged.arrive(this.appendedAt(slot))
        })
      this.#unacknowledged.add(appended)
      await delay(due - Date.now())
    }
  }
}

function slotOf(slot: number, partitions: number): SlotRecords {
  const blockTime = 1_700_000_000 + slot
  return {
    marker: {
      slot,
      parent: slot - 1,
      blockTime,
      solPrice: null,
      blockId: BigInt(slot),
      finalized: Math.max(0, slot - 32),
    },
    records: Array.from({ length: RECORDS * partitions }, (_, index) => ({
      kind: 'balance',
      wallet: index + 1,
      slot,
      txIndex: index,
      blockTime,
      lamports: BigInt(slot),
      lamportsBefore: BigInt(slot - 1),
    })),
  }
}

/** A reader of the load, which compares what comes with what was appended. */
export class LogReader {
  /** Arrivals of slots whose marker has come on every partition. */
  readonly seen = new Recovery()
  readonly #load: LogLoad
  readonly #tallies: readonly PartitionTally[]
  #slot = 0
  #wait: { readonly entries: number; readonly resolve: () => void } | null = null

  constructor(load: LogLoad) {
    this.#load = load
    this.#tallies = Array.from({ length: load.partitions }, () => new PartitionTally())
  }

  /** Handles a batch of the log. */
  readonly handle = async ({ partition, records }: LogBatch): Promise<void> => {
    const tally = this.#tallies[partition]
    for (const entry of records) {
      if (entry.kind === 'marker') tally?.read(entry.marker.slot * ENTRIES - 1)
      else if (entry.kind === 'record') {
        const { slot, wallet } = entry.record
        if (partitionOf(wallet, this.#load.partitions) !== partition)
          throw new Error(`wallet ${wallet} came on partition ${partition}`)
        const position = Math.floor((wallet - 1) / this.#load.partitions)
        tally?.read((slot - 1) * ENTRIES + position)
      }
    }
    const reached = (slot: number) =>
      this.#tallies.every((one) => one.hasReached(slot * ENTRIES - 1))
    while (this.#slot < this.#load.slots && reached(this.#slot + 1))
      this.seen.arrive(this.#load.appendedAt(++this.#slot))
    if (this.#wait && this.#tallies.every((one) => one.hasReached(this.#wait!.entries - 1)))
      this.#wait.resolve()
  }

  /**
   * Resolves when the last entry of every partition has come, or after two minutes. The load must
   * have stopped.
   */
  async end(): Promise<void> {
    const limit = new AbortController()
    const isRead = new Promise<void>((resolve) => {
      this.#wait = { entries: this.#load.entries, resolve }
    })
    await this.handle({ partition: 0, records: [] })
    await Promise.race([isRead, delay(RECOVERS_WITHIN_MS, null, { signal: limit.signal })])
    limit.abort()
  }

  /** What was read so far, of all partitions together. */
  get result() {
    const sum = (of: (tally: PartitionTally) => number) =>
      this.#tallies.reduce((total, tally) => total + of(tally), 0)
    return {
      lost: sum((tally) => tally.lost(this.#load.entries)),
      repeated: sum(({ repeated }) => repeated),
      disordered: sum(({ disordered }) => disordered),
    }
  }
}
