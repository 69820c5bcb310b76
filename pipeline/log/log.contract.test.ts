import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import anyTest, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { DECODER_VERSION } from '../domain/decoder-version.ts'
import { MAX_KEPT_BYTES } from '../domain/event.ts'
import { ServiceError } from '../domain/service-error.ts'
import type { SlotMarker, WalletRecord } from '../domain/slot.ts'
import { createLogger } from '../runtime/logger.ts'
import { createRegistry } from '../runtime/telemetry.ts'
import { aWalletRecord } from '../testing/arbitraries.ts'
import { createKafkaLog } from './kafka.ts'
import type { BatchHandler, EventLog, LogBatch, LogRecord } from './log.ts'
import { createMemoryLog } from './memory.ts'

const PARTITIONS = 3
const brokers = process.env.KAFKA_BROKERS?.split(',')

/** A log implementation. `open` opens a new log; `again` the same one from another process. */
interface Backend {
  open(): Promise<EventLog>
  again(log: EventLog): Promise<EventLog>
}

const deps = () => ({
  logger: createLogger('silent'),
  registry: createRegistry(),
})
const prefixes = new WeakMap<EventLog, string>()
const openKafka = async (topicPrefix: string) => {
  const config = { brokers: brokers ?? [], topicPrefix, ssl: false, sasl: null }
  const log = await createKafkaLog(config, deps(), PARTITIONS)
  prefixes.set(log, topicPrefix)
  return log
}

const memory: Backend = {
  open: async () => createMemoryLog(deps(), { partitions: PARTITIONS, retryDelayMs: 1 }),
  again: async (log) => log,
}
const kafka: Backend = {
  open: () => openKafka(`test-${randomUUID()}-`),
  again: (log) => openKafka(prefixes.get(log) ?? ''),
}

function contract(
  title: string,
  run: (t: ExecutionContext, backend: Backend) => Promise<void>,
): void {
  anyTest(`memory: ${title}`, (t) => run(t, memory))
  const skipped = ' (skipped: KAFKA_BROKERS is not set)'
  if (brokers) anyTest(`kafka: ${title}`, (t) => run(t, kafka))
  else anyTest.skip(`kafka: ${title}${skipped}`, (t) => run(t, kafka))
}

const marker = (slot: number): SlotMarker => ({
  slot,
  parent: slot - 1,
  blockTime: 1_700_000_000 + slot,
  solPrice: { time: 1_700_000_000, usdE9: 150_000_000_000n },
  blockId: BigInt(slot),
  finalized: Math.max(0, slot - 3),
})
const balance = (slot: number, wallet: number, txIndex = 0): WalletRecord => ({
  kind: 'balance',
  slot,
  txIndex,
  wallet,
  blockTime: 1_700_000_000 + slot,
  lamports: BigInt(slot),
  lamportsBefore: null,
})
/** A slot in which each of the wallets has one record. */
const slotOf = (slot: number, wallets: readonly number[]) => ({
  marker: marker(slot),
  records: wallets.map((wallet) => balance(slot, wallet)),
})

/** Keeps what a consumer was given; `until` resolves when enough came. */
class Received {
  readonly batches: LogBatch[] = []
  #waiting: { enough: () => boolean; resolve: () => void }[] = []

  readonly handler: BatchHandler = async (batch) => {
    this.batches.push(batch)
    for (const { enough, resolve } of this.#waiting) if (enough()) resolve()
  }

  of(partition: number): LogRecord[] {
    return this.batches.filter((b) => b.partition === partition).flatMap((b) => [...b.records])
  }

  count(): number {
    return this.batches.reduce((sum, batch) => sum + batch.records.length, 0)
  }

  until(enough: () => boolean): Promise<void> {
    if (enough()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ enough, resolve }))
  }

  /** What each partition gave, without offsets. */
  content(): Omit<LogRecord, 'offset'>[][] {
    return [0, 1, 2].map((partition) => this.of(partition).map(({ offset, ...rest }) => rest))
  }
}

const shared = (group = 'fold') => ({ mode: 'shared', group }) as const
const follow = (sinceMs: number | null) => ({ mode: 'follow', sinceMs }) as const
const asMarker = (slot: number) => ({ kind: 'marker', marker: marker(slot) })
const asRecord = (slot: number, wallet: number, late: string | null = null) => ({
  kind: 'record',
  record: balance(slot, wallet),
  late,
  ...(late !== null && { blockId: 7n }),
  decoderVersion: DECODER_VERSION,
})

contract(
  'a slot is on the partitions of its wallets, in order, closed by a marker on each (rule K3)',
  async (t, backend) => {
    const log = await backend.open()
    t.is(log.partitions, PARTITIONS)
    // Not waited for: the order of the calls counts.
    await Promise.all([
      log.appendSlot(slotOf(10, [1, 2, 4])),
      log.appendSlot(slotOf(11, [])),
      log.appendLate([balance(9, 2)], 'stream', 7n),
      log.appendLate([balance(8, 4)], 'backfill', 7n),
      log.appendSlot(slotOf(12, [4, 1])),
    ])
    const received = new Received()
    await log.consume(shared(), received.handler)
    await received.until(() => received.count() === 16)
    t.deepEqual(received.content(), [
      [
        asRecord(10, 1),
        asRecord(10, 4),
        asMarker(10),
        asMarker(11),
        asRecord(8, 4, 'backfill'),
        asRecord(12, 4),
        asRecord(12, 1),
        asMarker(12),
      ],
      [asRecord(10, 2), asMarker(10), asMarker(11), asRecord(9, 2, 'stream'), asMarker(12)],
      [asMarker(10), asMarker(11), asMarker(12)],
    ] as never)
    t.deepEqual(
      received.of(0).map((record) => record.offset),
      [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n],
    )
    await log.close()
  },
)

contract('any records come out as they went in', async (t, backend) => {
  const log = await backend.open()
  const group = new Received()
  const follower = new Received()
  await log.consume(shared(), group.handler)
  await log.consume(follow(0), follower.handler)
  const key = (record: WalletRecord) =>
    JSON.stringify(Object.entries(record).sort(), (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    )
  await fc.assert(
    fc.asyncProperty(fc.array(aWalletRecord, { maxLength: 30 }), async (records) => {
      // Followers are not given kept transactions.
      const followed = records.filter(({ kind }) => kind !== 'kept')
      await log.appendSlot({ marker: marker(1), records })
      for (const [received, expected] of [
        [group, records],
        [follower, followed],
      ] as const) {
        await received.until(() => received.count() === expected.length + PARTITIONS)
        const fresh = received.batches.splice(0).flatMap((batch) => [...batch.records])
        const came = fresh.flatMap((entry) => (entry.kind === 'record' ? [key(entry.record)] : []))
        t.deepEqual(came.sort(), expected.map(key).sort())
      }
    }),
    { numRuns: 30 },
  )
  await log.close()
})

contract(
  'the largest transaction that is kept comes out as it went in (rule K4)',
  async (t, backend) => {
    const log = await backend.open()
    const received = new Received()
    await log.consume(shared(), received.handler)
    const kept: WalletRecord = {
      kind: 'kept',
      slot: 1,
      txIndex: 0,
      wallet: 1,
      blockTime: 1,
      signature: '1'.repeat(64),
      format: 1,
      bytes: new Uint8Array(MAX_KEPT_BYTES).map((_, at) => at % 251),
    }
    await log.appendSlot({ marker: marker(1), records: [balance(1, 1), kept] })
    await received.until(() => received.count() === 2 + PARTITIONS)
    const records = received
      .of(0)
      .flatMap((entry) => (entry.kind === 'record' ? [entry.record] : []))
    t.true(isDeepStrictEqual(records, [balance(1, 1), kept]))
    await log.close()
  },
)

contract(
  'a refold request is on the partition of its wallet, after earlier records',
  async (t, backend) => {
    const log = await backend.open()
    await Promise.all([
      log.appendSlot(slotOf(1, [2])),
      log.appendRefolds([
        { wallet: 2, revision: 1 },
        { wallet: 1, revision: 7 },
      ]),
      log.appendSlot(slotOf(2, [])),
    ])
    const received = new Received()
    await log.consume(shared(), received.handler)
    await received.until(() => received.count() === 9)
    t.deepEqual(received.content(), [
      [asMarker(1), { kind: 'refold', refold: { wallet: 1, revision: 7 } }, asMarker(2)],
      [
        asRecord(1, 2),
        asMarker(1),
        { kind: 'refold', refold: { wallet: 2, revision: 1 } },
        asMarker(2),
      ],
      [asMarker(1), asMarker(2)],
    ] as never)
    await log.close()
  },
)

contract(
  'settled resolves when the group has committed everything acknowledged before',
  async (t, backend) => {
    const log = await backend.open()
    const group = { mode: 'shared', group: `settled-${randomUUID()}` } as const
    const ended = new AbortController()
    await log.settled(group.group, ended.signal)
    await log.appendLate([balance(1, 1), balance(1, 2)], 'backfill')
    let stored = 0
    const settled = log.settled(group.group, ended.signal).then(() => stored)
    const given = log.settled('nobody', ended.signal).then(
      () => 'settled',
      (error: ServiceError) => error.code,
    )
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const consumer = await log.consume(group, async ({ records }) => {
      await held
      stored += records.length
    })
    release()
    t.is(await settled, 2)
    ended.abort()
    t.is(await given, 'closed')
    await consumer.close()
    await log.close()
  },
)

contract('a group has a consumer from its start to its end', async (t, backend) => {
  const log = await backend.open()
  const group = `read-${randomUUID()}`
  t.false(await log.hasConsumer(group))
  const consumer = await log.consume({ mode: 'shared', group }, async () => {})
  t.true(await log.hasConsumer(group))
  t.false(await log.hasConsumer(`${group}-other`))
  await consumer.close()
  t.false(await log.hasConsumer(group))
  await log.close()
})

contract(
  'a batch that fails is handed out again, and what follows waits for it',
  async (t, backend) => {
    const log = await backend.open()
    await log.appendSlot(slotOf(1, [1]))
    const seen: string[] = []
    const received = new Received()
    let failures = 3
    await log.consume(shared(), async (batch) => {
      const offsets = batch.records.map((record) => Number(record.offset))
      if (batch.partition === 0) seen.push(offsets.join())
      if (batch.partition === 0 && offsets[0] === 0 && failures-- > 0)
        throw new ServiceError('unavailable', 'the store is down')
      await received.handler(batch)
    })
    await log.appendSlot(slotOf(2, [1]))
    await received.until(() => received.of(0).length === 4)
    t.deepEqual(seen.slice(0, 3), [seen[3], seen[3], seen[3]] as string[])
    t.deepEqual(
      received.of(0).map((record) => record.offset),
      [0n, 1n, 2n, 3n],
    )
    await log.close()
  },
)

contract(
  'a group resumes at its position and does not receive finished batches again',
  async (t, backend) => {
    const log = await backend.open()
    await log.appendSlot(slotOf(1, [1, 2, 3]))
    const first = new Received()
    const consumer = await log.consume(shared(), first.handler)
    await first.until(() => first.count() === 6)
    await consumer.close()
    await log.appendSlot(slotOf(2, [1, 2, 3]))
    const second = new Received()
    const other = await backend.again(log)
    await other.consume(shared(), second.handler)
    await second.until(() => second.count() === 6)
    t.deepEqual(second.content(), [
      [asRecord(2, 1), asMarker(2)],
      [asRecord(2, 2), asMarker(2)],
      [asRecord(2, 3), asMarker(2)],
    ] as never)
    t.is(first.count(), 6)
    const another = new Received()
    await log.consume(shared('another'), another.handler)
    await another.until(() => another.count() === 12)
    t.pass('another group has its own offsets, from the oldest record on')
    await Promise.all([log.close(), other.close()])
  },
)

contract('closing waits for the batch in progress', async (t, backend) => {
  const log = await backend.open()
  await log.appendSlot(slotOf(1, [1]))
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const received = new Received()
  const consumer = await log.consume(shared(), async (batch) => {
    await received.handler(batch)
    await held
  })
  await received.until(() => received.of(0).length === 2)
  const closed = consumer.close()
  release()
  await closed
  await log.appendSlot(slotOf(2, [1]))
  const next = new Received()
  await log.consume(shared(), next.handler)
  await next.until(() => next.of(0).length === 2)
  t.deepEqual(next.content()[0], [asRecord(2, 1), asMarker(2)] as never)
  await log.close()
})

contract('the members of a group share the partitions', async (t, backend) => {
  const log = await backend.open()
  const other = await backend.again(log)
  const received = new Received()
  const owners = Array.from({ length: PARTITIONS }, () => new Set<string>())
  const given = new Map<string, number>()
  let isSplit: () => void = () => {}
  const split = new Promise<void>((resolve) => {
    isSplit = resolve
  })
  const join = (name: string, on: EventLog) =>
    on.consume(
      {
        ...shared(),
        onAssigned: async ({ partitions }) => {
          given.set(name, partitions.length)
          const shares = [...given.values()].sort().join()
          if (shares === '1,2') isSplit()
          return new Map()
        },
      },
      async (batch) => {
        owners[batch.partition]?.add(name)
        await received.handler(batch)
      },
    )
  await join('one', log)
  t.is(given.get('one'), PARTITIONS)
  const two = await join('two', other)
  await split
  await Promise.all([1, 2, 3].map((slot) => log.appendSlot(slotOf(slot, [1, 2, 3]))))
  await received.until(() => received.count() === 18)
  t.deepEqual(
    owners.map((names) => names.size),
    [1, 1, 1],
  )
  t.is(new Set(owners.flatMap((names) => [...names])).size, 2)

  await two.close()
  await log.appendSlot(slotOf(4, [1, 2, 3]))
  await received.until(() => received.count() === 24)
  t.true(owners.every((names) => names.has('one')))
  t.deepEqual(
    received.content(),
    [1, 2, 3].map((w) => [1, 2, 3, 4].flatMap((s) => [asRecord(s, w), asMarker(s)])) as never,
  )
  await Promise.all([log.close(), other.close()])
})

contract(
  'a group starts where its reader says, whatever the group has committed',
  async (t, backend) => {
    const log = await backend.open()
    for (const slot of [1, 2, 3]) await log.appendSlot(slotOf(slot, [1, 2, 3]))
    const first = new Received()
    const consumer = await log.consume(shared(), first.handler)
    await first.until(() => first.count() === 18)
    await consumer.close()

    const again = new Received()
    const second = await log.consume(
      {
        ...shared(),
        onAssigned: async () =>
          new Map([
            [0, 2n],
            [1, 0n],
          ]),
      },
      again.handler,
    )
    await again.until(() => again.of(0).length === 4 && again.of(1).length === 6)
    await log.appendSlot(slotOf(4, [3]))
    await again.until(() => again.count() === 5 + 7 + 2)
    t.deepEqual(again.content(), [
      [asRecord(2, 1), asMarker(2), asRecord(3, 1), asMarker(3), asMarker(4)],
      [1, 2, 3].flatMap((slot) => [asRecord(slot, 2), asMarker(slot)]).concat(asMarker(4) as never),
      [asRecord(4, 3), asMarker(4)],
    ] as never)
    await second.close()
    await log.close()
  },
)

contract(
  'the extent has the identity of the log and the offsets that it has',
  async (t, backend) => {
    const log = await backend.open()
    const empty = await log.extent()
    const none = { low: 0n, end: 0n }
    t.deepEqual(
      [0, 1, 2].map((partition) => empty.partitions.get(partition)),
      [none, none, none],
    )
    await log.appendSlot(slotOf(1, [1, 1, 2]))
    const { id, partitions } = await log.extent()
    t.is(id, empty.id)
    t.not(id, '')
    t.deepEqual(
      [0, 1, 2].map((partition) => partitions.get(partition)?.end),
      [3n, 2n, 1n],
    )
    await log.close()
  },
)

contract(
  'the extent has the first entry that was appended after the time of a batch',
  async (t, backend) => {
    const log = await backend.open()
    const received = new Received()
    await log.consume(shared(), received.handler)
    await log.appendSlot(slotOf(1, [1]))
    await received.until(() => received.count() === 4)
    const time = Math.max(...received.batches.map((batch) => batch.time ?? 0))
    while (Date.now() <= time) await new Promise(setImmediate)
    await log.appendSlot(slotOf(2, [1, 1]))
    const laterThan = async (after: number) => {
      const { partitions } = await log.extent(new Map([0, 1].map((at) => [at, after])))
      return [0, 1, 2].map((partition) => partitions.get(partition)?.later)
    }
    t.deepEqual(await laterThan(time), [2n, 1n, undefined])
    t.deepEqual(await laterThan(time + 60_000), [5n, 2n, undefined])
    await log.close()
  },
)

contract(
  'followers see every partition, from the end or the time they ask for',
  async (t, backend) => {
    const log = await backend.open()
    await log.appendSlot(slotOf(1, [1, 2, 3]))
    const live = new Received()
    const past = new Received()
    await log.consume(follow(null), live.handler)
    await log.consume(follow(60_000), past.handler)
    await log.appendSlot(slotOf(2, [1, 2, 3]))
    await Promise.all([live.until(() => live.count() === 6), past.until(() => past.count() === 12)])
    t.deepEqual(live.content(), [
      [asRecord(2, 1), asMarker(2)],
      [asRecord(2, 2), asMarker(2)],
      [asRecord(2, 3), asMarker(2)],
    ] as never)
    t.deepEqual(past.content()[0], [
      asRecord(1, 1),
      asMarker(1),
      asRecord(2, 1),
      asMarker(2),
    ] as never)
    await log.close()
  },
)

contract(
  'a follower that waits with one partition for what another one brings later gets that',
  async (t, backend) => {
    const log = await backend.open()
    const seen: number[] = []
    let tell: (partition: number) => void = () => {}
    const next = () =>
      new Promise<number>((resolve) => {
        tell = resolve
      })
    const first = next()
    let release: () => void = () => {}
    const isReleased = new Promise<void>((resolve) => {
      release = resolve
    })
    const consumer = await log.consume({ mode: 'follow', sinceMs: 60_000 }, async (batch) => {
      tell(batch.partition)
      if (seen.length === 0) {
        seen.push(batch.partition)
        await isReleased
      } else seen.push(batch.partition)
    })
    const [one, other] = [1, 2].map((wallet) => [balance(7, wallet)])
    await log.appendLate(one ?? [], 'stream')
    const waiting = await first
    const second = next()
    await log.appendLate(other ?? [], 'stream')
    t.not(await second, waiting)
    release()
    const third = next()
    await log.appendLate(one ?? [], 'stream')
    t.is(await third, waiting, 'the partition that waited goes on')
    await consumer.close()
    await log.close()
    t.deepEqual(seen, [waiting, seen[1] ?? -1, waiting])
  },
)

contract('the checkpoint is the newest marker, however much came after it', async (t, backend) => {
  const log = await backend.open()
  t.is(await log.checkpoint(), null)
  await log.appendLate([balance(1, 1)], 'stream')
  t.is(await log.checkpoint(), null)
  for (const slot of [5, 6, 9]) await log.appendSlot(slotOf(slot, [1]))
  t.deepEqual(await log.checkpoint(), marker(9))
  const flood = Array.from({ length: 5000 }, (_, txIndex) => balance(4, 1, txIndex))
  await log.appendLate(flood, 'backfill')
  t.deepEqual(await log.checkpoint(), marker(9))
  await log.close()
})

contract('a slot larger than any request is appended whole', async (t, backend) => {
  const log = await backend.open()
  const records = Array.from({ length: 6000 }, (_, n) => balance(7, 1 + (n % 2), n))
  const received = new Received()
  await log.consume(shared(), received.handler)
  await log.appendSlot({ marker: marker(7), records })
  await received.until(() => received.count() === 6003)
  t.deepEqual(
    received
      .of(0)
      .map((entry) =>
        entry.kind === 'record' ? entry.record : entry.kind === 'marker' ? entry.marker : entry,
      ),
    [...records.filter((record) => record.wallet === 1), marker(7)],
  )
  await log.close()
})

contract('a closed log says so', async (t, backend) => {
  const log = await backend.open()
  await log.ping()
  await log.close()
  for (const call of [
    () => log.appendSlot(slotOf(1, [])),
    () => log.consume(shared(), async () => {}),
    () => log.ping(),
  ]) {
    const error = await t.throwsAsync(call, { instanceOf: ServiceError })
    t.is(error?.code, 'closed')
  }
})
