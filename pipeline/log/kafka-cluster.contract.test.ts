import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import anyTest from 'ava'
import { Kafka, logLevel } from 'kafkajs'
import {
  killServers,
  serversStatus,
  startServers,
  stopServers,
} from '../../infra/servers/servers.ts'
import type { SlotRecords } from '../domain/slot.ts'
import { createLogger } from '../runtime/logger.ts'
import { createRegistry } from '../runtime/telemetry.ts'
import { createKafkaLog } from './kafka.ts'
import { readTopicSetting } from './kafka-client.ts'
import type { EventLog, LogBatch } from './log.ts'
import { PARTITIONS } from './topics.ts'

const isEnabled = Boolean(process.env.KAFKA_BROKERS)
const test = isEnabled ? anyTest : anyTest.skip
const why = isEnabled ? '' : ' (skipped: KAFKA_BROKERS is not set)'
const SERVERS = { cluster: true, only: 'kafka', portBase: 11_920 } as const

/** A slot with a record on every partition. */
const slotOf = (slot: number): SlotRecords => ({
  marker: {
    slot,
    parent: slot - 1,
    blockTime: 1_700_000_000,
    solPrice: null,
    blockId: null,
    finalized: null,
  },
  records: Array.from({ length: PARTITIONS }, (_, index) => ({
    kind: 'balance',
    wallet: index + 1,
    slot,
    txIndex: 0,
    blockTime: 1_700_000_000,
    lamports: 1n,
    lamportsBefore: null,
  })),
})

/** First sights of the entries of each partition, in order. */
class Seen {
  readonly entries = Array.from({ length: PARTITIONS }, () => new Set<string>())
  #waiting: { readonly entry: string; readonly resolve: () => void } | null = null

  readonly handler = async ({ partition, records }: LogBatch) => {
    for (const one of records)
      if (one.kind === 'marker') this.entries[partition]?.add(`marker ${one.marker.slot}`)
      else if (one.kind === 'record') this.entries[partition]?.add(`record ${one.record.slot}`)
    this.#check()
  }

  /** Resolves when every partition has shown the marker. */
  until(slot: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = { entry: `marker ${slot}`, resolve }
      this.#check()
    })
  }

  #check() {
    const { entry, resolve } = this.#waiting ?? {}
    if (entry !== undefined && this.entries.every((seen) => seen.has(entry))) resolve?.()
  }
}

test(`brokers of a cluster killed in turn under load: nothing that was acknowledged is lost, and slots stay in order (rule K11)${why}`, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'kafka-cluster-'))
  const { KAFKA_BROKERS = '' } = await startServers(dir, SERVERS)
  const brokers = KAFKA_BROKERS.split(',')
  const logs: EventLog[] = []
  try {
    const open = async (seeds: string[]) => {
      const config = { brokers: seeds, topicPrefix: '', ssl: false, sasl: null }
      const opened = await createKafkaLog(config, {
        logger: createLogger('silent'),
        registry: createRegistry(),
      })
      logs.push(opened)
      return opened
    }
    const log = await open(brokers)
    t.deepEqual(await replication(brokers), { replicas: 3, minInSync: '2' })

    const readers = [new Seen(), new Seen()] as const
    await log.consume({ mode: 'shared', group: 'fold' }, readers[0].handler)
    await log.consume({ mode: 'follow', sinceMs: 0 }, readers[1].handler)
    let slot = 0
    let isOver = false
    const append = async (to: EventLog) => {
      while (!isOver) await to.appendSlot(slotOf(++slot))
    }
    const appending = append(log)
    for (const node of ['kafka-1', 'kafka-2', 'kafka-3'] as const) {
      await readers[0].until(slot + 1)
      await killServers(dir, { only: node })
      await Promise.all(readers.map((reader) => reader.until(slot + 2)))
      await startServers(dir, { only: node })
    }
    // A broker that hangs is left at its first request without an answer (kafkajs 919).
    const [hanging] = await serversStatus(dir, { only: 'kafka-2' })
    process.kill(hanging?.pid ?? 0, 'SIGSTOP')
    const stoppedAt = Date.now()
    await Promise.all(readers.map((reader) => reader.until(slot + 2)))
    t.true(Date.now() - stoppedAt < 60_000)
    // A process that starts meanwhile, with that broker first in its list, reads from then on.
    const [first = '', hung = '', third = ''] = brokers
    const late = new Seen()
    const started = await open([hung, first, third])
    await started.consume({ mode: 'follow', sinceMs: 0 }, late.handler)
    await late.until(slot + 2)
    process.kill(hanging?.pid ?? 0, 'SIGCONT')
    isOver = true
    await appending
    await Promise.all([...readers, late].map((reader) => reader.until(slot)))
    const expected = Array.from({ length: slot }, (_, index) => [
      `record ${index + 1}`,
      `marker ${index + 1}`,
    ]).flat()
    for (const { entries } of readers) for (const seen of entries) t.deepEqual([...seen], expected)
    for (const seen of late.entries) t.deepEqual([...seen], expected.slice(-seen.size))
  } finally {
    await Promise.all(logs.map((opened) => opened.close()))
    await stopServers(dir)
    rmSync(dir, { recursive: true, force: true })
  }
})

async function replication(brokers: string[]) {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const topic = 'wallet-events'
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  const minInSync = await readTopicSetting(admin, topic, 'min.insync.replicas')
  await admin.disconnect()
  const [replicas, ...others] = new Set(
    topics[0]?.partitions.map((partition) => partition.replicas.length),
  )
  return others.length === 0 ? { replicas, minInSync } : null
}
