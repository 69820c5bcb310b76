import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import anyTest from 'ava'
import { parse } from 'yaml'
import { z } from 'zod'
import { pipelineEnv } from '../../pipeline/config.ts'
import { createKafkaLog } from '../../pipeline/log/kafka.ts'
import { readEnv } from '../../pipeline/runtime/env.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { execute } from '../servers/install.ts'
import { kafkaJars } from '../servers/kafka.ts'

/*
 * Starts Kafka without Docker, with the settings, start script, users and rules of
 * docker-compose.yml. It runs only where servers are in use already.
 */

const enabled = Boolean(process.env.KAFKA_BROKERS)
const test = enabled ? anyTest.serial : anyTest.serial.skip
const why = enabled ? '' : ' (skipped: KAFKA_BROKERS is not set)'
const ROOT = resolve(import.meta.dirname, '../../..')
const PORT = 28_700
const BROKER = `127.0.0.1:${PORT}`

const dir = mkdtempSync(join(tmpdir(), 'kafka-users-'))
const secrets = join(dir, 'secrets')
let kafka: ChildProcess | undefined

anyTest.after.always('stop', async () => {
  if (kafka?.exitCode === null && kafka.signalCode === null) {
    const exit = once(kafka, 'exit')
    kafka.kill('SIGTERM')
    await exit
  }
  rmSync(dir, { recursive: true, force: true })
})

const Compose = z.object({
  services: z.object({ kafka: z.object({ environment: z.record(z.string(), z.unknown()) }) }),
})

/**
 * Settings as the image reads them from its environment, with the ports and folder of this test.
 */
function properties(): string {
  const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')
  const { environment } = Compose.parse(parse(text, { merge: true })).services.kafka
  const lines = Object.entries(environment).map(
    ([key, value]) =>
      `${key
        .replace(/^KAFKA_/, '')
        .toLowerCase()
        .replaceAll('_', '.')}=${value}`,
  )
  return lines
    .join('\n')
    .replace('CLIENTS://:9092', `CLIENTS://${BROKER}`)
    .replace('CLIENTS://kafka:9092', `CLIENTS://${BROKER}`)
    .replaceAll('localhost:9093', `localhost:${PORT + 1}`)
    .replace('/var/lib/kafka/data', join(dir, 'data'))
}

function script(name: string, text: string): string {
  const path = join(dir, name)
  writeFileSync(path, `#!/bin/bash\n${text}\n`)
  chmodSync(path, 0o755)
  return path
}

async function startKafka(): Promise<void> {
  const [server, tools] = [await kafkaJars(), await kafkaJars('tools')]
  const config = join(dir, 'server.properties')
  writeFileSync(config, properties())
  const format = ['kafka.tools.StorageTool', 'format', '-t', 'MkU3OEVBNTcwNTJENDM2Qg', '-c', config]
  await execute('java', ['-cp', `${server}/*`, ...format])
  const logging = join(ROOT, 'infra/servers/kafka-log4j2.properties')
  const java = `exec java $KAFKA_OPTS -Xmx400m -Dlog4j2.configurationFile=file:${logging}`
  const env = { PATH: process.env.PATH, SECRETS: secrets, RUN: dir }
  kafka = spawn('bash', [join(ROOT, 'infra/docker/kafka-start.sh')], {
    env: { ...env, START: script('start.sh', `${java} -cp '${server}/*' kafka.Kafka ${config}`) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (!kafka.stdout) throw new Error('stdout is a pipe')
  for await (const line of createInterface(kafka.stdout))
    if (line.includes('Kafka Server started')) break
  kafka.stdout.resume()
  mkdirSync(join(dir, 'bin'))
  const acls = `exec java -cp '${tools}/*' org.apache.kafka.tools.AclCommand "$@"`
  script('bin/kafka-acls.sh', acls)
  execFileSync('bash', [join(ROOT, 'infra/docker/kafka-acls.sh')], {
    env: {
      PATH: process.env.PATH,
      KAFKA_HOME: dir,
      BOOTSTRAP: BROKER,
      PASSWORD_FILE: join(secrets, 'kafka_password_broker'),
      CONFIG: join(dir, 'acls.properties'),
    },
    stdio: 'pipe',
  })
}

test(`each role reads the log, only ingest and operators write to it, and only ingest may lead${why}`, async (t) => {
  execFileSync(join(ROOT, 'infra/docker/make-secrets.sh'), [secrets])
  await startKafka()
  const deps = () => ({ logger: createLogger('silent'), registry: createRegistry() })
  const open = async (KAFKA_SASL: string | null, topicPrefix = '') => {
    const { KAFKA_SASL: sasl = null } = readEnv(pipelineEnv, { KAFKA_SASL: KAFKA_SASL ?? '' })
    const config = { brokers: [BROKER], topicPrefix, ssl: false, sasl }
    const log = await createKafkaLog(config, deps())
    t.teardown(() => log.close())
    return log
  }
  const as = (user: string) => readFileSync(join(secrets, `kafka_sasl_${user}`), 'utf8').trim()
  const slot = (number: number) => ({
    marker: {
      slot: number,
      parent: number - 1,
      blockTime: 1_700_000_000,
      solPrice: null,
      blockId: null,
      finalized: null,
    },
    records: [],
  })

  // These run concurrently, because the client retries each for a while.
  const refused: Promise<unknown>[] = [
    t.throwsAsync(open(null), undefined, 'without a password'),
    t.throwsAsync(open('plain:api:wrong'), undefined, 'with a wrong password'),
    t.throwsAsync(open(as('api'), 'other-'), undefined, 'another topic'),
  ]

  const writer = await open(as('ingest'))
  await writer.lead()
  await writer.appendSlot(slot(1))
  for (const user of ['workers', 'api', 'webhooks']) {
    const log = await open(as(user))
    const seen = new Promise<number>((settle) => {
      void log.consume({ mode: 'shared', group: `fold-${user}` }, async ({ records }) => {
        for (const record of records) if (record.kind === 'marker') settle(record.marker.slot)
      })
    })
    t.is(await seen, 1, user)
    t.is((await log.checkpoint())?.slot, 1, user)
    refused.push(t.throwsAsync(log.lead(), { code: 'unreachable' }, user))
    refused.push(t.throwsAsync(log.appendSlot(slot(2)), { code: 'internal' }, user))
  }
  await Promise.all(refused)
  await (await open(as('operator'))).appendSlot(slot(2))
  t.is((await writer.checkpoint())?.slot, 2)
})
