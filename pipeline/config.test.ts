import test from 'ava'
import { pipelineEnv } from './config.ts'
import { ServiceError } from './domain/service-error.ts'
import { readEnv } from './runtime/env.ts'

const bad = (env: Record<string, string>) => {
  try {
    readEnv(pipelineEnv, env)
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, lines: error.message.split('\n') }
    throw error
  }
  return null
}

test('an empty environment gives the embedded service with every default (rule J2)', (t) => {
  const { SOL_PRICE_POOL, ...rest } = readEnv(pipelineEnv, {})
  t.is(SOL_PRICE_POOL as string, 'Czfq3xZZDmsdGdUyrNLtRhGc47cXcZtLG4crryfu44zE')
  t.deepEqual(rest, {
    ROLES: ['ingest', 'workers', 'api', 'webhooks'],
    YELLOWSTONE_SELECTION: 'auto',
    KAFKA_TOPIC_PREFIX: '',
    INGEST_FAILOVER: false,
    KAFKA_LOG_FORMAT: 3,
    KAFKA_SSL: false,
    REPAIR_RPC_CALLS_PER_HOUR: 3600,
    RPC_REFUSAL_SECONDS: 60,
    SOL_PRICE_MAX_AGE_SECONDS: 3600,
    DATA_DIR: '.data',
    METRICS_PORT: 9464,
    LOG_LEVEL: 'info',
  })
})

test('an empty value counts as unset', (t) => {
  t.deepEqual(readEnv(pipelineEnv, { KAFKA_BROKERS: '' }), readEnv(pipelineEnv, {}))
})

test('one message names every bad key and what was expected, and repeats no value', (t) => {
  t.deepEqual(
    bad({
      ROLES: 'ingest,cook',
      YELLOWSTONE_ENDPOINT: 'ftp://secret',
      KAFKA_BROKERS: 'secret',
      KAFKA_SASL: 'plain:secret',
      TRANSACTION_BYTES_DAYS: '29',
      METRICS_PORT: '65536',
      SOL_PRICE_MAX_AGE_SECONDS: '1e3',
      LOG_LEVEL: 'loud',
    }),
    {
      code: 'bad_config',
      lines: [
        'bad configuration:',
        '  ROLES: expected roles of ingest, workers, api, webhooks, for example ingest,workers',
        '  YELLOWSTONE_ENDPOINT: expected URLs starting with http:// or https://, for example https://yellowstone.example:443,https://other.example:443',
        '  KAFKA_BROKERS: expected host:port,..., for example kafka-1:9092,kafka-2:9092',
        '  KAFKA_SASL: expected mechanism:user:password with plain, scram-sha-256 or scram-sha-512, for example scram-sha-512:service:...',
        '  TRANSACTION_BYTES_DAYS: expected an integer from 30 to 36500, for example 90',
        '  SOL_PRICE_MAX_AGE_SECONDS: expected an integer from 1 to 10000000, for example 3600',
        '  METRICS_PORT: expected an integer from 0 to 65535, for example 9464',
        '  LOG_LEVEL: expected one of fatal, error, warn, info, debug, trace, silent, for example info',
      ],
    },
  )
})

test('a password may hold colons', (t) => {
  t.deepEqual(readEnv(pipelineEnv, { KAFKA_SASL: 'plain:me:a:b' }).KAFKA_SASL, {
    mechanism: 'plain',
    username: 'me',
    password: 'a:b',
  })
})

test('CLICKHOUSE_URL with several hosts is one URL a host, with the same user and database', (t) => {
  const read = (CLICKHOUSE_URL: string) =>
    readEnv(pipelineEnv, { CLICKHOUSE_URL }).CLICKHOUSE_URL?.map(({ href }) => href)
  t.deepEqual(read('http://u:p%40@one:8123,two:8124, [::1]:8125/db'), [
    'http://u:p%40@one:8123/db',
    'http://u:p%40@two:8124/db',
    'http://u:p%40@[::1]:8125/db',
  ])
  t.deepEqual(read('https://one'), ['https://one/'])
  for (const wrong of [
    'http://u:secret@one,,two/db',
    'http://u:secret@/db',
    'ftp://u:secret@one/db',
  ])
    t.deepEqual(bad({ CLICKHOUSE_URL: wrong })?.lines.slice(1), [
      '  CLICKHOUSE_URL: expected a URL starting with http:// or https://, for example http://user:password@clickhouse:8123/tracked_wallets',
    ])
})
