import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import anyTest from 'ava'
import { Kafka, logLevel } from 'kafkajs'
import { killServers, startServers, stopServers } from '../../infra/servers/servers.ts'
import type { Undecoded } from '../domain/event.ts'
import { FORMAT_VERSION } from '../domain/log-format.ts'
import { ServiceError } from '../domain/service-error.ts'
import { LIVE_START, type SlotMarker } from '../domain/slot.ts'
import { createLogger } from '../runtime/logger.ts'
import { createRegistry } from '../runtime/telemetry.ts'
import { createKafkaLog } from './kafka.ts'
import { type Admin, createKafkaClient, whileSettling, withAdmin } from './kafka-client.ts'
import { withClusters } from './kafka-internals.ts'
import { openProducer } from './kafka-producer.ts'
import { createConsumer } from './kafka-stop.ts'
import { createWriterClient } from './kafka-writer.ts'
import type { EventLog, LogBatch, LogRecord, PartitionLease } from './log.ts'
import type { LogMessage } from './log-message.ts'
import { encodeMessage } from './record.ts'

const brokers = process.env.KAFKA_BROKERS?.split(',') ?? []
const test = brokers.length > 0 ? anyTest : anyTest.skip
/** Before the others: they change the clock of this process. */
const serial = brokers.length > 0 ? anyTest.serial : anyTest.skip
const why = brokers.length > 0 ? '' : ' (skipped: KAFKA_BROKERS is not set)'

const deps = () => ({ logger: createLogger('silent'), registry: createRegistry() })
const config = (topicPrefix: string, at: readonly string[] = brokers) => ({
  brokers: at,
  topicPrefix,
  ssl: false,
  sasl: null,
})
const aPrefix = () => `test-${randomUUID()}-`
const marker = (slot: number): SlotMarker => ({
  slot,
  parent: slot - 1,
  blockTime: 1_700_000_000,
  solPrice: null,
  blockId: null,
  finalized: null,
})
const client = () => new Kafka({ brokers, logLevel: logLevel.NOTHING })
/** Creates a topic of one partition. A busy broker does not know it at once. */
const createTopic = (admin: Admin, topic: string) =>
  whileSettling(async () => {
    await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 1 }] })
    await admin.fetchTopicMetadata({ topics: [topic] })
  })

/** Slots of the markers that a partition showed, in order. */
class Slots {
  readonly seen: number[][] = [[], []]
  #waiting: { slot: number; resolve: () => void }[] = []

  readonly handler = async ({ partition, records }: LogBatch) => {
    for (const record of records)
      if (record.kind === 'marker') this.seen[partition]?.push(record.marker.slot)
    for (const { slot, resolve } of this.#waiting)
      if (this.seen.every((slots) => slots.includes(slot))) resolve()
  }

  until(slot: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ slot, resolve }))
  }
}

test(`a consumer that is stopped just when the list of brokers changes ends${why}`, async (t) => {
  const topic = aPrefix()
  const admin = client().admin()
  await admin.connect()
  await createTopic(admin, topic)
  let isChanging = false
  let readings = 0
  let hasStopped: (end: Promise<void>) => void
  const stopped = new Promise<void>((resolve) => {
    hasStopped = resolve
  })
  const changing = withClusters(client(), (cluster) => {
    const getNodeIds = cluster.getNodeIds.bind(cluster)
    cluster.getNodeIds = () => {
      if (!isChanging) return getNodeIds()
      readings += 1
      // The first reading makes the client replace its fetchers.
      if (readings === 1) hasStopped(consumer.disconnect())
      if (readings > 1000) throw new Error('the consumer never ends')
      return readings === 1 ? [...getNodeIds(), 999] : getNodeIds()
    }
    return cluster
  })
  const consumer = createConsumer(changing, { groupId: topic, maxWaitTimeInMs: 50 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({ eachMessage: async () => {} })
  isChanging = true
  await stopped
  await admin.deleteTopics({ topics: [topic] })
  await admin.disconnect()
  t.is(readings, 1)
})

test(`Kafka killed and started again while slots pass: nothing is lost, and slots stay in order${why}`, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'kafka-'))
  const servers = { only: 'kafka', portBase: 28_800 } as const
  const { KAFKA_BROKERS = '' } = await startServers(dir, servers)
  let log: EventLog | undefined
  try {
    log = await createKafkaLog(config(aPrefix(), [KAFKA_BROKERS]), deps(), 2)
    const groups = [new Slots(), new Slots()]
    await log.consume({ mode: 'shared', group: 'fold' }, groups[0]!.handler)
    await log.consume({ mode: 'follow', sinceMs: 0 }, groups[1]!.handler)
    const appended: Promise<void>[] = []
    const append = (from: number, to: number) => {
      for (let slot = from; slot <= to; slot++)
        appended.push(log?.appendSlot({ marker: marker(slot), records: [] }) ?? Promise.reject())
    }
    for (const round of [0, 1, 2]) {
      append(round * 100 + 1, round * 100 + 50)
      await appended.at(-1)
      await killServers(dir, servers)
      append(round * 100 + 51, round * 100 + 100)
      await t.throwsAsync(log.ping(), { instanceOf: ServiceError })
      await startServers(dir, servers)
    }
    append(301, 301)
    await Promise.all([...groups.map((slots) => slots.until(301)), ...appended])
    const expected = Array.from({ length: 301 }, (_, index) => index + 1)
    for (const slots of groups)
      for (const seen of slots.seen) {
        // Redelivered batches repeat; first sights come in order.
        t.deepEqual([...new Set(seen)], expected)
      }
    t.deepEqual(groups[1]?.seen, [expected, expected], 'a follower sees no record twice')
    t.deepEqual(await log.checkpoint(), marker(301))
  } finally {
    await log?.close()
    await stopServers(dir)
    rmSync(dir, { recursive: true, force: true })
  }
})

serial(
  `a process whose clock is ten days fast appends events and states, and readers get the time of the broker${why}`,
  async (t) => {
    const log = await createKafkaLog(config(aPrefix()), deps(), 2)
    const { now } = Date
    t.teardown(() => {
      Date.now = now
    })
    const startedAt = now()
    Date.now = () => now() + 10 * 24 * 3600 * 1000
    await log.appendSlot({ marker: marker(1), records: [] })
    const mark = { slot: 1, blockTime: 1_700_000_000 }
    await log.states.append(new Map([[0, { changes: [], mark, fence: 1 }]]))
    Date.now = now
    const time = await new Promise<number | undefined>((resolve, reject) => {
      log
        .consume({ mode: 'follow', sinceMs: 60_000 }, async (batch) => resolve(batch.time))
        .catch(reject)
    })
    t.true(time !== undefined && time >= startedAt - 1000 && time <= now() + 1000)
    await log.close()
  },
)

serial(
  `a consumer whose clock steps by ten days goes on with its heartbeats, and no request times out${why}`,
  async (t) => {
    const topic = `${aPrefix()}clock`
    const kafka = createKafkaClient(config(''), createLogger('silent'))
    await withAdmin(kafka, (admin) => createTopic(admin, topic))
    const consumer = createConsumer(kafka, {
      groupId: topic,
      heartbeatInterval: 50,
      maxWaitTimeInMs: 200,
    })
    const faults: string[] = []
    consumer.on(consumer.events.REQUEST_TIMEOUT, ({ payload: { apiName } }) => {
      faults.push(`${apiName} timed out`)
    })
    consumer.on(consumer.events.REQUEST, ({ payload: { apiName, duration } }) => {
      if (duration < 0 || duration > 15_000) faults.push(`${apiName} took ${duration} ms`)
    })
    const next = (event: 'consumer.heartbeat' | 'consumer.fetch_start' | 'consumer.fetch') =>
      new Promise<void>((resolve) => {
        const off = consumer.on(event, () => {
          off()
          resolve()
        })
      })
    const { now } = Date
    t.teardown(async () => {
      Date.now = now
      await consumer.disconnect()
    })
    await consumer.connect()
    await consumer.subscribe({ topic })
    await consumer.run({ eachMessage: async () => {} })
    for (const days of [10, 0, -10, 0]) {
      await next('consumer.fetch_start')
      await nextTurn() // the request is under way
      Date.now = () => now() + days * 24 * 3600 * 1000
      await Promise.all([next('consumer.heartbeat'), next('consumer.fetch')])
    }
    t.deepEqual(faults, [])
  },
)

test(`entries that cannot be parsed are skipped and counted, those of a newer format stop their partition${why}`, async (t) => {
  const prefix = aPrefix()
  const registry = createRegistry()
  const log = await createKafkaLog(config(prefix), { ...deps(), registry }, 2)
  const producer = client().producer()
  await producer.connect()
  const write = (partition: number, ...values: (string | null)[]) =>
    producer.send({
      topic: `${prefix}wallet-events`,
      messages: values.map((value) => ({ partition, value })),
    })
  await write(0, 'garbage', null, '{"v":1}', '{"v":1,"kind":"marker"}')
  await log.appendSlot({ marker: marker(1), records: [] })
  await write(1, JSON.stringify({ v: FORMAT_VERSION + 1 }))
  await log.appendSlot({ marker: marker(2), records: [] })

  const seen: LogRecord[][] = [[], []]
  await new Promise<void>((resolve, reject) => {
    log
      .consume({ mode: 'shared', group: 'fold' }, async ({ partition, records }) => {
        seen[partition]?.push(...records)
        if (seen[0]?.length === 2 && seen[1]?.length === 1) resolve()
      })
      .catch(reject)
  })
  t.deepEqual(seen, [
    [
      { offset: 4n, kind: 'marker', marker: marker(1) },
      { offset: 5n, kind: 'marker', marker: marker(2) },
    ],
    [{ offset: 0n, kind: 'marker', marker: marker(1) }],
  ])
  const metrics = await registry.metrics()
  t.deepEqual(
    [...metrics.matchAll(/^log_malformed_records_total\{reason="(\w+)"\} (\d+)$/gm)].map(
      ([, reason, count]) => `${reason} ${count}`,
    ),
    ['not_json 1', 'empty 1', 'no_version 0', 'wrong_shape 2'].filter(
      (line) => !line.endsWith('0'),
    ),
  )
  await producer.disconnect()
  await log.close()
})

test(`an entry of a newer format fails the check of readiness of each reader, until its partition is read by a newer version (rule K18)${why}`, async (t) => {
  const prefix = aPrefix()
  const registry = createRegistry()
  const log = await createKafkaLog(config(prefix), { ...deps(), registry }, 2)
  const producer = client().producer()
  await producer.connect()
  await log.appendSlot({ marker: marker(1), records: [] })
  const groups = [new Slots(), new Slots()]
  const read = Promise.all(groups.map((slots) => slots.until(1)))
  const shared = await log.consume({ mode: 'shared', group: 'fold' }, groups[0]!.handler)
  const following = await log.consume({ mode: 'follow', sinceMs: 60_000 }, groups[1]!.handler)
  await read
  await log.checkFormat()
  const newer = FORMAT_VERSION + 1
  await producer.send({
    topic: `${prefix}wallet-events`,
    messages: [{ partition: 1, value: JSON.stringify({ v: newer }) }],
  })
  await producer.disconnect()
  const stopped = async () =>
    /^log_stopped_partitions (\d)$/m.exec(await registry.metrics())?.[1] ?? ''
  while ((await stopped()) !== '2') await nextTurn()
  const expected = {
    instanceOf: ServiceError,
    code: 'newer_format',
    message: `partition 1 of the log has an entry of format ${newer} at offset 1; this version reads up to ${FORMAT_VERSION}: upgrade this process`,
  }
  await t.throwsAsync(log.checkFormat(), expected)
  await log.appendSlot({ marker: marker(2), records: [] })
  await t.throwsAsync(log.resumePoint(), expected, 'ingest does not start')
  await following.close()
  t.is(await stopped(), '1', 'a consumer that has ended has stopped nowhere')
  await t.throwsAsync(log.checkFormat(), expected)
  await shared.close()
  await log.checkFormat()
  t.is(await log.checkpoint(), null)
  await t.throwsAsync(log.checkFormat(), expected, 'the end of the log was not read')
  t.deepEqual(groups[0]?.seen, [[1, 2], [1]])

  // The newer version: it starts where this one stopped.
  const upgraded = client().consumer({ groupId: `${prefix}wallet-events.fold` })
  const offsets: string[][] = [[], []]
  await upgraded.connect()
  await upgraded.subscribe({ topic: `${prefix}wallet-events`, fromBeginning: true })
  await new Promise<void>((resolve, reject) => {
    upgraded
      .run({
        eachMessage: async ({ partition, message }) => {
          offsets[partition]?.push(message.offset)
          if (offsets[1]?.length === 2) resolve()
        },
      })
      .catch(reject)
  })
  t.deepEqual(offsets[1], ['1', '2'])
  await upgraded.disconnect()
  await log.close()
})

test(`a partition that comes back after a rebalance is checked again (rule K18)${why}`, async (t) => {
  const prefix = aPrefix()
  const registry = createRegistry()
  const log = await createKafkaLog(config(prefix), { ...deps(), registry }, 2)
  const producer = client().producer()
  await producer.connect()
  await producer.send({
    topic: `${prefix}wallet-events`,
    messages: [0, 1].map((partition) => ({ partition, value: `{"v":${FORMAT_VERSION + 1}}` })),
  })
  await producer.disconnect()
  const stopped = async () =>
    /^log_stopped_partitions (\d)$/m.exec(await registry.metrics())?.[1] ?? ''
  const other = await createKafkaLog(config(prefix), deps(), 2)
  const options = { mode: 'shared', group: 'fold' } as const
  await log.consume(options, async () => {})
  while ((await stopped()) !== '2') await nextTurn()
  const joined = await other.consume(options, async () => {})
  while ((await stopped()) !== '1') await nextTurn()
  await joined.close()
  while ((await stopped()) !== '2') await nextTurn()
  await t.throwsAsync(log.checkFormat(), { code: 'newer_format' })
  await log.close()
  await other.close()
})

test(`a follower leaves no group behind, and topics of other prefixes share no groups${why}`, async (t) => {
  const prefix = aPrefix()
  const log = await createKafkaLog(config(prefix), deps(), 2)
  await log.consume({ mode: 'shared', group: 'fold' }, async () => {})
  await log.consume({ mode: 'follow', sinceMs: 1000 }, async () => {})
  await log.appendSlot({ marker: marker(1), records: [] })
  t.deepEqual(await log.checkpoint(), marker(1))
  await log.close()
  const admin = client().admin()
  await admin.connect()
  const { groups } = await admin.listGroups()
  await admin.disconnect()
  t.deepEqual(
    groups.map(({ groupId }) => groupId).filter((groupId) => groupId.startsWith(prefix)),
    [`${prefix}wallet-events.fold`],
  )
})

test(`a topic that was deleted and created again is another log (rule K10)${why}`, async (t) => {
  const prefix = aPrefix()
  const topic = `${prefix}wallet-events`
  const extents = []
  for (const slot of [1, 2]) {
    const log = await createKafkaLog(config(prefix), deps(), 2)
    await log.appendSlot({ marker: marker(slot), records: [] })
    extents.push(await log.extent())
    t.deepEqual(await log.extent(), extents.at(-1))
    await log.close()
    await deleteTopic(topic)
  }
  const range = { low: 0n, end: 1n }
  t.deepEqual(
    extents.map(({ partitions }) => [partitions.get(0), partitions.get(1)]),
    [
      [range, range],
      [range, range],
    ],
  )
  t.not(extents[0]?.id, extents[1]?.id)
})

/** Resolves when the topic is gone. */
async function deleteTopic(topic: string): Promise<void> {
  const admin = client().admin()
  await admin.connect()
  await admin.deleteTopics({ topics: [topic] })
  while ((await admin.listTopics()).includes(topic)) await new Promise(setImmediate)
  await admin.disconnect()
}

test(`entries deleted before a running reader came to them assign its partitions again (rule K10)${why}`, async (t) => {
  const prefix = aPrefix()
  const topic = `${prefix}wallet-events`
  const log = await createKafkaLog(config(prefix), deps(), 1)
  const lows: unknown[] = []
  const slots: number[] = []
  let release: () => void = () => {}
  const isReleased = new Promise<void>((resolve) => {
    release = resolve
  })
  let begin: () => void = () => {}
  const hasBegun = new Promise<void>((resolve) => {
    begin = resolve
  })
  let finish: () => void = () => {}
  const isFinished = new Promise<void>((resolve) => {
    finish = resolve
  })
  await log.appendSlot({ marker: marker(1), records: [] })
  await log.consume(
    {
      mode: 'shared',
      group: 'fold',
      async onAssigned() {
        const { partitions } = await log.extent()
        lows.push(partitions.get(0)?.low)
        return new Map()
      },
    },
    async ({ records }) => {
      for (const record of records) if (record.kind === 'marker') slots.push(record.marker.slot)
      begin()
      await isReleased
      if (slots.includes(10)) finish()
    },
  )
  await hasBegun
  for (let slot = 2; slot <= 10; slot++) await log.appendSlot({ marker: marker(slot), records: [] })
  const admin = client().admin()
  await admin.connect()
  await admin.fetchTopicOffsets(topic) // loads the metadata that the next call needs
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '8' }] })
  await admin.disconnect()
  release()
  await isFinished
  t.deepEqual(lows, [0n, 8n])
  t.deepEqual(slots, [1, 9, 10])
  await log.close()
})

test(`a restart continues with what is not final, and with what was not appended whole (rules K3, K9)${why}`, async (t) => {
  const prefix = aPrefix()
  const log = await createKafkaLog(config(prefix), deps(), 2)
  t.teardown(() => log.close())
  const sealed = (slot: number, blockId = BigInt(slot), parent = slot - 1): SlotMarker => ({
    ...marker(slot),
    parent,
    blockId,
    finalized: slot <= 3 ? null : Math.min(slot, 7) - 3,
  })
  const appended = (block: SlotMarker, ...signatures: string[]) => ({
    slot: block.slot,
    blockTime: block.blockTime,
    blockId: block.blockId,
    signatures,
  })
  t.deepEqual(await log.resumePoint(), LIVE_START)
  for (const slot of [1, 2, 3]) await log.appendSlot({ marker: sealed(slot), records: [] })
  t.deepEqual(
    await log.resumePoint(),
    {
      checkpoint: sealed(3),
      finalized: null,
      unfinalized: [1, 2, 3].map((slot) => sealed(slot)),
      withdrawn: new Set<number>(),
      partial: [],
      attempt: 1,
    },
    'before anything was final',
  )
  const known = [1, 2, 3].map((slot) => appended(sealed(slot)))
  t.deepEqual(await log.appendedBlocks(sealed(3), 64), known)
  for (const slot of [4, 5]) await log.appendSlot({ marker: sealed(slot), records: [] })
  const [inTime, late] = ['4'.repeat(88), '5'.repeat(88)] as const
  await log.appendSlot({ marker: sealed(6), records: [undecoded(6, 1, inTime)] })
  await log.appendLate([undecoded(6, 2, late)], 'stream', 6n)
  await log.appendSlot({ marker: sealed(8, 8n, 6), records: [] })
  const expected = {
    checkpoint: sealed(8, 8n, 6),
    finalized: 4,
    unfinalized: [4, 5, 6].map((slot) => sealed(slot)).concat(sealed(8, 8n, 6)),
    withdrawn: new Set<number>(),
    partial: [],
    attempt: 1,
  }
  t.deepEqual(await log.resumePoint(), expected)
  const blocks = [
    ...[1, 2, 3, 4, 5].map((slot) => appended(sealed(slot))),
    appended(sealed(6), inTime, late),
    appended(sealed(8, 8n, 6)),
  ]
  t.deepEqual(await log.appendedBlocks(expected.checkpoint, 64), blocks)

  // A process that dies appends some entries of some slots, perhaps thousands.
  const producer = client().producer()
  t.teardown(() => producer.disconnect())
  await producer.connect()
  const write = (partition: number, messages: readonly LogMessage[]) =>
    producer.send({
      topic: `${prefix}wallet-events`,
      messages: messages.map((message) => ({ partition, value: encodeMessage(message) })),
    })
  const record = (slot: number, txIndex = 0): LogMessage => ({
    kind: 'record',
    late: null,
    record: {
      kind: 'balance',
      wallet: 1,
      slot,
      txIndex,
      blockTime: 1_700_000_000,
      lamports: 1n,
      lamportsBefore: null,
    },
  })
  const many = Array.from({ length: 3000 }, (_, txIndex) => record(10, txIndex))
  await write(0, [record(9), { kind: 'marker', marker: sealed(9, 99n, 8) }, ...many])
  await write(1, [record(9)])
  const marked = { slot: 9, marker: sealed(9, 99n, 8) }
  t.deepEqual(await log.resumePoint(), {
    ...expected,
    partial: [marked, { slot: 10, marker: null }],
  })

  // The next one withdraws them. The one after it finds only what that one has left.
  const rewind = { checkpoint: expected.checkpoint, attempt: 1 }
  for (const slot of [9, 10])
    await log.appendWithdrawal({ slot, blockId: null, solPrice: null, rewind })
  t.deepEqual(await log.resumePoint(), { ...expected, attempt: 2 })
  await write(1, [record(9), { kind: 'marker', marker: sealed(9, 100n, 8) }])
  t.deepEqual(await log.resumePoint(), {
    ...expected,
    partial: [{ slot: 9, marker: sealed(9, 100n, 8) }],
    attempt: 2,
  })

  // A withdrawal that not every partition has does not count; its slot stays on the chain.
  const withdrawal = { slot: 5, blockId: 5n, solPrice: null, rewind: null }
  await write(0, [{ kind: 'withdrawal', withdrawal }])
  t.deepEqual((await log.resumePoint()).withdrawn, new Set())
  await log.appendWithdrawal(withdrawal)
  const { unfinalized, withdrawn } = await log.resumePoint()
  const left = await log.appendedBlocks(expected.checkpoint, 64)
  t.deepEqual(
    { unfinalized, withdrawn, left },
    {
      unfinalized: expected.unfinalized,
      withdrawn: new Set([5]),
      left: blocks.filter(({ slot }) => slot !== 5),
    },
  )
})

test(`what was appended of the newest slots is known behind thousands of entries that a restart repeated (rule K2)${why}`, async (t) => {
  const log = await createKafkaLog(config(aPrefix()), deps(), 2)
  t.teardown(() => log.close())
  const [inTime, late] = ['4'.repeat(88), '5'.repeat(88)] as const
  for (let slot = 1; slot <= 70; slot += 1)
    await log.appendSlot({ marker: marker(slot), records: [undecoded(slot, 1, inTime)] })
  await log.appendLate([undecoded(60, 1, late)], 'stream', null)
  const repeated = Array.from({ length: 3000 }, () => undecoded(1, 1, inTime))
  await log.appendLate(repeated, 'backfill', null)
  await log.appendSlot({ marker: marker(71), records: [] })
  const knownOf = async (slots: number) =>
    (await log.appendedBlocks(marker(71), slots)).map(({ slot, signatures }) => [slot, signatures])
  const all = Array.from({ length: 71 }, (_, at) => {
    const slot = 1 + at
    return [slot, slot === 71 ? [] : slot === 60 ? [inTime, late] : [inTime]]
  })
  t.deepEqual((await knownOf(20)).slice(-20), all.slice(-20))
  t.deepEqual(await knownOf(512), all)
})

test(`of a slot that a rewind withdraws, a restart knows only what was appended after it (rules K2, K9)${why}`, async (t) => {
  const log = await createKafkaLog(config(aPrefix()), deps(), 2)
  t.teardown(() => log.close())
  const [voided, kept] = ['4'.repeat(88), '5'.repeat(88)] as const
  await log.appendSlot({ marker: marker(1), records: [] })
  await log.appendLate([undecoded(2, 1, voided)], 'stream', null)
  const rewind = { checkpoint: marker(1), attempt: 1 }
  await log.appendWithdrawal({ slot: 2, blockId: null, solPrice: null, rewind })
  await log.appendSlot({ marker: marker(2), records: [undecoded(2, 2, kept)] })
  const appended = await log.appendedBlocks(marker(2), 64)
  t.deepEqual(
    appended.map(({ slot, signatures }) => [slot, signatures]),
    [
      [1, []],
      [2, [kept]],
    ],
  )
})

test(`once a process leads, Kafka refuses what the one before it appends, and a process that does not lead may append (rule K14)${why}`, async (t) => {
  const prefix = aPrefix()
  const open = () => createKafkaLog(config(prefix), deps(), 2)
  const [first, second, operator] = await Promise.all([open(), open(), open()])
  await first.lead()
  await first.appendSlot({ marker: marker(1), records: [] })
  await second.lead()
  t.deepEqual((await second.resumePoint()).checkpoint, marker(1))
  await t.throwsAsync(first.appendSlot({ marker: marker(2), records: [] }), { code: 'fenced' })
  await t.throwsAsync(first.appendSlot({ marker: marker(3), records: [] }), { code: 'fenced' })
  await second.appendSlot({ marker: marker(2), records: [] })
  await operator.appendRefolds([{ wallet: 1, revision: 1 }])
  await second.appendSlot({ marker: marker(4), records: [] })
  const seen: unknown[][] = [[], []]
  const registry = createRegistry()
  const reader = await createKafkaLog(config(prefix), { ...deps(), registry }, 2)
  await new Promise<void>((resolve, reject) => {
    const group = { mode: 'shared', group: 'fold' } as const
    const read = async ({ partition, records }: LogBatch) => {
      for (const entry of records)
        seen[partition]?.push(entry.kind === 'marker' ? entry.marker.slot : entry.kind)
      if (seen.every((entries) => entries.includes(4))) resolve()
    }
    reader.consume(group, read).catch(reject)
  })
  t.deepEqual(seen, [
    [1, 2, 'refold', 4],
    [1, 2, 4],
  ])
  t.notRegex(await registry.metrics(), /log_malformed_records_total\{/)
  for (const log of [first, second, operator, reader]) await log.close()
})

test(`a writer that connects anew stays fenced, and fences nobody (rule K14)${why}`, async (t) => {
  const topic = aPrefix()
  const kafka = client()
  const admin = kafka.admin()
  await admin.connect()
  await createTopic(admin, topic)
  const entry = (value: string) => [{ partition: 0, key: null, value }]
  /** Connects anew before each entry, as after a lost connection. */
  const open = () =>
    openProducer(createWriterClient(kafka, topic), topic, createLogger('silent'), -1)
  const first = await open()
  await first.send(entry('1'))
  await first.send(entry('2'))
  const second = await open()
  // Before the second one has written anything.
  await t.throwsAsync(first.send(entry('lost')), { code: 'fenced' })
  for (const value of ['3', '4']) await second.send(entry(value))
  await t.throwsAsync(first.send(entry('lost')), { code: 'fenced' })
  await second.send(entry('5'))
  const [offsets] = await admin.fetchTopicOffsets(topic)
  t.is(offsets?.high, '5')
  for (const one of [first, second]) await one.close()
  await admin.deleteTopics({ topics: [topic] })
  await admin.disconnect()
})

test(`a topic keeps the number of partitions that it was created with, and another one that is configured or that storage comes from is refused (rule K21)${why}`, async (t) => {
  const prefix = aPrefix()
  const open = async (configured?: number, stored?: number) => {
    const log = await createKafkaLog({ ...config(prefix), partitions: configured }, deps(), stored)
    await log.close()
    return log.partitions
  }
  t.deepEqual([await open(2), await open(), await open(2, 2)], [2, 2, 2])
  const has = `topic ${prefix}wallet-events has 2 partitions`
  await t.throwsAsync(open(24), {
    instanceOf: ServiceError,
    code: 'bad_config',
    message: `KAFKA_PARTITIONS: ${has}, and a topic keeps the number that it began with: unset it, or set it to 2`,
  })
  await t.throwsAsync(open(undefined, 6), {
    instanceOf: ServiceError,
    code: 'bad_config',
    message: `KAFKA_TOPIC_PREFIX: ${has}, but storage was filled from one with 6: stop every process and delete the topic; the next start creates it with 6, and fetches what storage lacks`,
  })
})

test(`a new topic has as many partitions as the log that storage comes from, else as configured, else 24 (rule K21)${why}`, async (t) => {
  const created = async (configured?: number, stored?: number) => {
    const asked = { ...config(aPrefix()), partitions: configured }
    const log = await createKafkaLog(asked, deps(), stored)
    await log.close()
    return log.partitions
  }
  t.deepEqual([await created(), await created(3), await created(undefined, 5)], [24, 3, 5])
})

test(`a member whose handler keeps failing joins again when another one comes (kafkajs 1720)${why}`, async (t) => {
  const prefix = aPrefix()
  const open = () => createKafkaLog(config(prefix), deps(), 2)
  const [one, two] = [await open(), await open()]
  const slots = new Slots()
  const given = new Map<string, number>()
  let isAway = true
  let fail: () => void = () => {}
  const hasFailed = new Promise<void>((resolve) => {
    fail = resolve
  })
  let split: () => void = () => {}
  const isSplit = new Promise<void>((resolve) => {
    split = resolve
  })
  const join = (name: string, log: EventLog) =>
    log.consume(
      {
        mode: 'shared',
        group: 'fold',
        onAssigned: async ({ partitions }) => {
          given.set(name, partitions.length)
          if ([...given.values()].join() === '1,1') split()
          return new Map()
        },
      },
      async (batch) => {
        fail()
        if (isAway) throw new Error('storage is away')
        await slots.handler(batch)
      },
    )
  await join('one', one)
  await one.appendSlot({ marker: marker(1), records: [] })
  await hasFailed
  await join('two', two)
  await isSplit
  isAway = false
  await slots.until(1)
  t.deepEqual(slots.seen, [[1], [1]])
  await Promise.all([one.close(), two.close()])
})

/** The members of a group on one topic, and the partitions that each has. */
class Members {
  readonly #prefix: string
  readonly #partitions: number
  readonly #shares = new Map<string, { generation: number; partitions: readonly number[] }>()
  readonly #logs = new Map<string, EventLog>()
  #changed: () => void = () => {}

  constructor(prefix: string, partitions: number) {
    this.#prefix = prefix
    this.#partitions = partitions
  }

  async join(name: string): Promise<void> {
    const log = await createKafkaLog(config(this.#prefix), deps(), this.#partitions)
    this.#logs.set(name, log)
    const onAssigned = async (lease: PartitionLease) => {
      const { partitions } = lease
      lease.generation().then(
        (generation) => {
          if (this.#logs.has(name)) this.#shares.set(name, { generation, partitions })
          this.#changed()
        },
        () => {}, // assigned again before a heartbeat
      )
      return new Map()
    }
    await log.consume({ mode: 'shared', group: 'fold', onAssigned }, async () => {})
  }

  async leave(name: string): Promise<void> {
    const log = this.#logs.get(name)
    this.#logs.delete(name)
    this.#shares.delete(name)
    await log?.close()
  }

  /** Resolves with the shares once every member has its own in one generation. */
  async shares(): Promise<Record<string, readonly number[]>> {
    for (;;) {
      const found = [...this.#shares.values()]
      const isOne = found.every((share) => share.generation === found[0]?.generation)
      if (isOne && found.length === this.#logs.size && this.#isWhole(found)) break
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
    return Object.fromEntries([...this.#shares].map(([name, share]) => [name, share.partitions]))
  }

  #isWhole(found: readonly { readonly partitions: readonly number[] }[]): boolean {
    return found.flatMap(({ partitions }) => partitions).length === this.#partitions
  }

  async close(): Promise<void> {
    for (const name of [...this.#logs.keys()]) await this.leave(name)
  }
}

test(`when members join and leave, only as many partitions move as balance demands (rule K23)${why}`, async (t) => {
  const members = new Members(aPrefix(), 7)
  await members.join('a')
  t.deepEqual(await members.shares(), { a: [0, 1, 2, 3, 4, 5, 6] })
  await members.join('b')
  t.deepEqual(await members.shares(), { a: [0, 1, 2, 3], b: [4, 5, 6] })
  await members.join('c')
  t.deepEqual(await members.shares(), { a: [0, 1, 2], b: [4, 5], c: [3, 6] })
  await members.leave('a')
  const { b = [], c = [] } = await members.shares()
  const haveStayed = [4, 5].every((at) => b.includes(at)) && [3, 6].every((at) => c.includes(at))
  t.true(haveStayed, `${b} and ${c}`)
  t.deepEqual([b.length, c.length].sort(), [3, 4])
  await members.close()
})

test(`a member for which no partition is left gets one when another member leaves (rule K23)${why}`, async (t) => {
  const members = new Members(aPrefix(), 1)
  await members.join('a')
  await members.join('b')
  t.deepEqual(await members.shares(), { a: [0], b: [] })
  await members.leave('a')
  t.deepEqual(await members.shares(), { b: [0] })
  await members.close()
})

test(`a member of an earlier version, which knows no claims, shares the partitions too (rule K23)${why}`, async (t) => {
  const prefix = aPrefix()
  const groupId = `${prefix}wallet-events.fold`
  const members = new Members(prefix, 4)
  await members.join('a')
  t.deepEqual(await members.shares(), { a: [0, 1, 2, 3] })
  const older = client().consumer({ groupId, sessionTimeout: 5000 })
  const isShared = new Promise<readonly number[]>((resolve) => {
    older.on(older.events.GROUP_JOIN, ({ payload }) =>
      resolve(Object.values(payload.memberAssignment).flat()),
    )
  })
  await older.subscribe({ topic: `${prefix}wallet-events` })
  await older.run({ eachMessage: async () => {} })
  t.is((await isShared).length, 2)
  const admin = client().admin()
  await admin.connect()
  const protocol = async () => (await admin.describeGroups([groupId])).groups[0]?.protocol
  t.is(await protocol(), 'RoundRobinAssigner')
  await older.disconnect()
  t.deepEqual(await members.shares(), { a: [0, 1, 2, 3] })
  while ((await protocol()) !== 'tracked-wallets-sticky') await nextTurn()
  await admin.disconnect()
  await members.close()
})

test(`a member whose reader waits for longer than a session keeps its partitions, and shares them when another one joins meanwhile (rules K15, K23)${why}`, async (t) => {
  const prefix = aPrefix()
  const open = () => createKafkaLog(config(prefix), deps(), 2)
  const [one, two] = [await open(), await open()]
  const slots = new Slots()
  const given: string[] = []
  let release: () => void = () => {}
  const isReleased = new Promise<void>((resolve) => {
    release = resolve
  })
  let first: (lease: PartitionLease) => void = () => {}
  const isAssigned = new Promise<PartitionLease>((resolve) => {
    first = resolve
  })
  const join = (name: string, log: EventLog, wait: Promise<void>) =>
    log.consume(
      {
        mode: 'shared',
        group: 'fold',
        onAssigned: async (lease) => {
          given.push(`${name} ${lease.partitions}`)
          first(lease)
          await wait
          return new Map()
        },
      },
      slots.handler,
    )
  const hasJoined = join('one', one, isReleased)
  const lease = await isAssigned
  const since = performance.now()
  let slot = 0
  while (performance.now() - since < 2 * 3000) {
    slot += 1
    await two.appendSlot({ marker: marker(slot), records: [] })
    await lease.confirm(new AbortController().signal)
  }
  t.deepEqual([given, slots.seen], [['one 0,1'], [[], []]])
  await join('two', two, Promise.resolve())
  t.deepEqual(given, ['one 0,1', 'two 1'])
  release()
  await Promise.all([hasJoined, slots.until(slot)])
  t.deepEqual(given, ['one 0,1', 'two 1', 'one 0'])
  const expected = Array.from({ length: slot }, (_, at) => at + 1)
  t.deepEqual(slots.seen, [expected, expected])
  await Promise.all([one.close(), two.close()])
})

test(`a topic with fewer replicas than configured is named, and one that cannot be made is not made (rule K11)${why}`, async (t) => {
  const prefix = aPrefix()
  const topic = `${prefix}wallet-events`
  const factor = 1 + brokers.length
  const asks = { ...config(prefix), replicationFactor: factor }
  await t.throwsAsync(createKafkaLog(asks, deps()), {
    instanceOf: ServiceError,
    message: `KAFKA_REPLICATION_FACTOR: Kafka has fewer than ${factor} brokers for topic ${topic}: start them, or set it to their number`,
  })
  const log = await createKafkaLog(config(prefix), deps())
  await log.close()
  await t.throwsAsync(createKafkaLog(asks, deps()), {
    instanceOf: ServiceError,
    message: `KAFKA_REPLICATION_FACTOR: topic ${topic} has replication factor ${factor - 1} and min.insync.replicas ${Math.max(1, factor - 2)}, expected ${factor} and ${factor - 1}: change the topic with kafka-reassign-partitions and kafka-configs`,
  })
})

anyTest('a Kafka that does not answer is named within seconds', async (t) => {
  const error = await t.throwsAsync(createKafkaLog(config('', ['127.0.0.1:1']), deps()), {
    instanceOf: ServiceError,
  })
  t.is(error?.code, 'unreachable')
  t.true(error?.message.startsWith('KAFKA_BROKERS: no answer from 127.0.0.1:1: '), error?.message)
})

function undecoded(slot: number, wallet: number, signature: string): Undecoded {
  return {
    kind: 'undecoded',
    wallet,
    slot,
    txIndex: wallet,
    blockTime: 1_700_000_000,
    signature,
    programId: null,
    reason: 'malformed',
  }
}
