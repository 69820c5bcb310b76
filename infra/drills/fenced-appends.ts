import { randomUUID } from 'node:crypto'
import { createKafkaLog } from '../../pipeline/log/kafka.ts'
import { createKafkaClient, withAdmin } from '../../pipeline/log/kafka-client.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { percentiles, print, printHead, printRow } from '../bench/kit/figures.ts'
import { readOptions } from '../bench/kit/options.ts'

const USAGE = `npm run -s drill -- fenced-appends [options]

Appends slots to two logs in turn (KAFKA_BROKERS): one whose writer is fenced (rule K14), and one
whose writer is not. Prints how long an append takes, and how many entries each log has.

  --slots N         slots for each log (2000)`

/** Runs the comparison. It checks nothing. */
export async function run(args: readonly string[]): Promise<boolean> {
  const read = readOptions(args, USAGE, { slots: 2000 })
  if (read === null) return true
  const brokers = process.env.KAFKA_BROKERS
  if (brokers === undefined) throw new Error('KAFKA_BROKERS is not set')
  const config = { brokers: brokers.split(','), ssl: false, sasl: null }
  const logger = createLogger('silent')
  const kinds = ['not fenced', 'fenced'].map((name) => ({
    name,
    topicPrefix: `drill-${randomUUID()}-`,
    times: [] as number[],
  }))
  const logs: EventLog[] = []
  for (const { topicPrefix } of kinds) {
    const deps = { logger, registry: createRegistry() }
    logs.push(await createKafkaLog({ ...config, topicPrefix }, deps))
  }
  await logs[1]?.lead()
  for (let slot = 1; slot <= read.options.slots; slot += 1)
    for (const [at, log] of logs.entries()) {
      const started = performance.now()
      await log.appendSlot({ marker: markerOf(slot), records: [] })
      kinds[at]?.times.push(performance.now() - started)
    }
  printHead('writer', 'slots', 'p50 ms', 'p99 ms')
  for (const { name, times } of kinds)
    printRow(name, times.length, ...percentiles(times, 0.5, 0.99).map((ms) => ms.toFixed(2)))
  const topics = kinds.map(({ topicPrefix }) => `${topicPrefix}wallet-events`)
  const kafka = createKafkaClient({ ...config, topicPrefix: '' }, logger)
  await withAdmin(kafka, async (admin) => {
    for (const topic of topics) {
      const ends = await admin.fetchTopicOffsets(topic)
      print(`${topic}: ${ends.reduce((sum, { high }) => sum + Number(high), 0)} entries`)
    }
    await admin.deleteTopics({ topics })
  })
  for (const log of logs) await log.close()
  return true
}

function markerOf(slot: number) {
  return {
    slot,
    parent: slot - 1,
    blockTime: 1_700_000_000,
    solPrice: null,
    blockId: 1n,
    finalized: 1,
  }
}
