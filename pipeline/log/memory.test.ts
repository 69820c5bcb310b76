import test from 'ava'
import type { WalletRecord } from '../domain/slot.ts'
import { createLogger } from '../runtime/logger.ts'
import { createRegistry } from '../runtime/telemetry.ts'
import { createKafkaLogger } from './kafka-logger.ts'
import type { LogBatch } from './log.ts'
import { createMemoryLog, type MemoryLogOptions } from './memory.ts'

const open = (options: MemoryLogOptions) =>
  createMemoryLog({ logger: createLogger('silent'), registry: createRegistry() }, options)
const slot = (number: number) => ({
  marker: {
    slot: number,
    parent: number - 1,
    blockTime: 0,
    solPrice: null,
    blockId: null,
    finalized: null,
  },
  records: [],
})
const slotsOf = (batches: readonly LogBatch[]) =>
  batches.flatMap(({ records }) =>
    records.flatMap((record) => (record.kind === 'marker' ? [record.marker.slot] : [])),
  )
/** Lets everything run that waits for nothing else. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('an append waits while a group is too far behind, so memory is bounded (rule K6)', async (t) => {
  const log = open({ partitions: 1, maxBacklog: 2, maxBatch: 1 })
  const batches: LogBatch[] = []
  const release: (() => void)[] = []
  await log.consume({ mode: 'shared', group: 'fold' }, async (batch) => {
    batches.push(batch)
    await new Promise<void>((resolve) => release.push(resolve))
  })
  const acknowledged: number[] = []
  const appends = [1, 2, 3, 4, 5].map((number) =>
    log.appendSlot(slot(number)).then(() => acknowledged.push(number)),
  )
  await settle()
  t.deepEqual(acknowledged, [1, 2, 3], 'three uncommitted are more than two')
  release.shift()?.()
  await settle()
  t.deepEqual(acknowledged, [1, 2, 3, 4])
  for (let done = 0; done < 4; done++) {
    release.shift()?.()
    await settle()
  }
  await Promise.all(appends)
  t.deepEqual(slotsOf(batches), [1, 2, 3, 4, 5])
  await log.close()
})

test('bytes of kept transactions are bounded, and forgotten when every group has them (rules K4, K6)', async (t) => {
  const log = open({ partitions: 1, maxBacklogBytes: 100, maxBatch: 1 })
  const kept = (txIndex: number): WalletRecord => ({
    kind: 'kept',
    slot: 1,
    txIndex,
    wallet: 1,
    blockTime: 0,
    signature: 's',
    format: 1,
    bytes: new Uint8Array(60).fill(txIndex),
  })
  const seen: number[] = []
  const release: (() => void)[] = []
  await log.consume({ mode: 'shared', group: 'fold' }, async ({ records }) => {
    for (const entry of records) if (entry.kind === 'record') seen.push(entry.record.txIndex)
    await new Promise<void>((resolve) => release.push(resolve))
  })
  const acknowledged: number[] = []
  for (const number of [1, 2, 3, 4])
    log.appendLate([kept(number)], 'stream').then(() => acknowledged.push(number))
  await settle()
  t.deepEqual(acknowledged, [1, 2], 'two are more than 100 bytes')
  for (let done = 0; done < 4; done++) {
    release.shift()?.()
    await settle()
  }
  t.deepEqual(
    [acknowledged, seen],
    [
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ],
  )
  const later: unknown[] = []
  await log.appendSlot(slot(2))
  await log.consume({ mode: 'follow', sinceMs: 60_000 }, async ({ records }) => {
    for (const { kind, offset } of records) later.push([kind, offset])
  })
  await settle()
  t.deepEqual(later, [['marker', 4n]])
  for (const done of release) done()
  await log.close()
})

test('closing refuses an append that waits', async (t) => {
  const log = open({ partitions: 1, maxBacklog: 0 })
  await log.consume({ mode: 'shared', group: 'fold' }, () => new Promise(() => {}))
  await log.appendSlot(slot(1))
  const waiting = log.appendSlot(slot(2))
  void log.close()
  await t.throwsAsync(waiting, { message: 'the log is closed' })
})

test('followers go back as far as the log keeps: by time, and by number', async (t) => {
  let now = 0
  const options = { partitions: 1, retentionMs: 1000, retainedRecords: 40, now: () => now }
  const log = open(options)
  for (let number = 1; number <= 100; number++) {
    now = number * 100
    await log.appendSlot(slot(number))
  }
  const since = async (sinceMs: number) => {
    const batches: LogBatch[] = []
    const consumer = await log.consume({ mode: 'follow', sinceMs }, async (batch) => {
      batches.push(batch)
    })
    await settle()
    await consumer.close()
    return slotsOf(batches)
  }
  t.deepEqual(await since(500), [95, 96, 97, 98, 99, 100])
  const all = await since(100_000)
  t.true(all.length >= 11 && all.length <= 20, 'what is older than a second is let go in time')
  t.is(all.at(-1), 100)
  now = 0 // nothing is old any more
  for (let number = 101; number <= 300; number++) await log.appendSlot(slot(number))
  const kept = await since(100_000)
  t.true(kept.length >= 40 && kept.length <= 50)
  await log.close()
})

test('the Kafka client may not repeat itself in our log', (t) => {
  const lines: unknown[] = []
  const line = (level: string) => (fields: { message: string }) => {
    lines.push([level, fields.message])
  }
  let now = 0
  const logger = Object.assign(createLogger('silent'), { warn: line('warn'), debug: line('debug') })
  const log = createKafkaLogger(logger as never, 1000, () => now)()
  const say = (level: number, message: string) =>
    log({ namespace: 'Connection', level, log: { message } })
  say(1, 'refused')
  say(1, 'refused')
  say(4, 'joined')
  now = 1000
  say(1, 'refused')
  t.deepEqual(lines, [
    ['warn', 'refused'],
    ['debug', 'refused'],
    ['debug', 'joined'],
    ['warn', 'refused'],
  ])
})
