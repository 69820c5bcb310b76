import { randomUUID } from 'node:crypto'
import anyTest, { type ExecutionContext } from 'ava'
import { createLogger } from '../runtime/logger.ts'
import { createRegistry } from '../runtime/telemetry.ts'
import { createKafkaLog } from './kafka.ts'
import type { EventLog } from './log.ts'
import { createMemoryLog } from './memory.ts'
import type { StateChange, StateEntry, StateMessage, StoredMark } from './state-log.ts'

/*
 * The log of states (rule K26), in memory and on Kafka.
 */

const PARTITIONS = 3
const brokers = process.env.KAFKA_BROKERS?.split(',')
const deps = () => ({ logger: createLogger('silent'), registry: createRegistry() })

/** `again`: the same log from another process. */
interface Backend {
  open(): Promise<EventLog>
  again(log: EventLog): Promise<EventLog>
}

const memory: Backend = {
  open: async () => createMemoryLog(deps(), { partitions: PARTITIONS }),
  again: async (log) => log,
}
const prefixes = new WeakMap<EventLog, string>()
async function openKafka(topicPrefix: string): Promise<EventLog> {
  const config = { brokers: brokers ?? [], topicPrefix, ssl: false, sasl: null }
  const log = await createKafkaLog(config, deps(), PARTITIONS)
  prefixes.set(log, topicPrefix)
  return log
}
const kafka: Backend = {
  open: () => openKafka(`test-${randomUUID()}-`),
  again: (log) => openKafka(prefixes.get(log) ?? ''),
}

function contract(title: string, run: (t: ExecutionContext, backend: Backend) => Promise<void>) {
  anyTest(`memory: ${title}`, (t) => run(t, memory))
  const skipped = ' (skipped: KAFKA_BROKERS is not set)'
  if (brokers) anyTest(`kafka: ${title}`, (t) => run(t, kafka))
  else anyTest.skip(`kafka: ${title}${skipped}`, (t) => run(t, kafka))
}

const position = (wallet: number, version: number): StateChange => ({
  table: 'positions',
  row: { wallet, mint: 'M', bought_amount: '340282366920938463463', version: String(version) },
})
const swap = (slot: number): StateChange => ({
  table: 'swaps',
  row: { slot: String(slot), quote_mint: null, quote_mismatch: false, is_deleted: 1 },
})
const mark = (slot: number): StoredMark => ({ slot, blockTime: 1_700_000_000 + slot })
/** What a worker appends to a partition. */
const said = (changes: readonly StateChange[], slot: number | null, fence = 1): StateMessage => ({
  changes,
  mark: slot === null ? null : mark(slot),
  fence,
})

/** What a reader got, by partition. */
class Received {
  readonly entries: StateEntry[][] = Array.from({ length: PARTITIONS }, () => [])
  #wake: () => void = () => {}

  readonly handler = async (batch: { partition: number; records: readonly StateEntry[] }) => {
    this.entries[batch.partition]?.push(...batch.records)
    this.#wake()
  }

  until(count: number): Promise<void> {
    return this.untilTrue(() => this.entries.flat().length >= count)
  }

  async untilTrue(condition: () => boolean): Promise<void> {
    while (!condition())
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
  }

  /** Without offsets. */
  messages(): StateMessage[][] {
    return this.entries.map((own) => own.map(({ offset: _, ...message }) => message))
  }
}

contract(
  'a reader gets everything that was appended after it began, in order in each partition',
  async (t, backend) => {
    const log = await backend.open()
    await log.states.append(new Map([[0, said([position(1, 1)], 1)]]))
    const reader = await backend.again(log)
    const received = new Received()
    const consumer = await reader.states.follow(received.handler)
    const first = said([position(1, 2), position(4, 1), swap(2), swap(1)], null)
    await log.states.append(
      new Map([
        [0, first],
        [1, said([], 2)],
      ]),
    )
    const second = said([position(1, 3)], 3, 2)
    await log.states.append(new Map([[0, second]]))
    await received.until(3)
    t.deepEqual(received.messages(), [[first, second], [said([], 2)], []])
    const offsets = received.entries[0]?.map(({ offset }) => offset) ?? []
    t.deepEqual(
      offsets,
      offsets.map((_, at) => (offsets[0] ?? 0n) + BigInt(at)),
    )
    await consumer.close()
    await reader.close()
    await log.close()
  },
)

contract('the mark of a message with many changes comes after all of them', async (t, backend) => {
  const log = await backend.open()
  const received = new Received()
  await log.states.follow(received.handler)
  const changes = Array.from({ length: 1200 }, (_, at) => position(1, at))
  await log.states.append(new Map([[0, said(changes, 7)]]))
  await log.states.append(new Map([[1, said([], 8)]]))
  const all = () => received.messages().map((own) => own.flatMap((message) => message.changes))
  const marks = () => received.messages().map((own) => own.map((message) => message.mark))
  await received.untilTrue(() => marks().flat().filter(Boolean).length === 2)
  t.deepEqual(all(), [changes, [], []])
  t.is(marks()[0]?.length, backend === memory ? 1 : 3)
  t.deepEqual(marks()[0]?.at(-1), mark(7))
  await log.close()
})

contract('facts about mints have no owner', async (t, backend) => {
  const log = await backend.open()
  const received = new Received()
  await log.states.follow(received.handler)
  const change: StateChange = { table: 'mints', row: { mint: 'M' } }
  const fact: StateMessage = { changes: [change], mark: null, fence: null }
  await log.states.append(new Map([[2, fact]]))
  await received.until(1)
  t.deepEqual(received.messages(), [[], [], [fact]])
  await log.close()
})

contract('a closed log refuses entries', async (t, backend) => {
  const log = await backend.open()
  await log.close()
  await t.throwsAsync(log.states.append(new Map([[0, said([], 1)]])), { code: 'closed' })
})
