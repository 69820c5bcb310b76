import { address, parseAddress } from './domain/address.ts'
import { FORMAT_VERSION, WRITTEN_FORMATS } from './domain/log-format.ts'
import {
  envBoolean,
  envChoice,
  envInteger,
  envList,
  envString,
  envText,
  envUrl,
  envUrls,
} from './runtime/env.ts'

/** The roles that a process can run. */
export const ROLES = ['ingest', 'workers', 'api', 'webhooks'] as const
/** One of `ROLES`. */
export type Role = (typeof ROLES)[number]

/** The parsed value of `KAFKA_SASL`. */
export interface Sasl {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
  readonly username: string
  readonly password: string
}

/** Environment variables of ingest, log, workers and store (rule J2). */
export const pipelineEnv = {
  ROLES: envList(`roles of ${ROLES.join(', ')}`, 'ingest,workers', (text) =>
    ROLES.find((role) => role === text),
  ).default([...ROLES]),
  YELLOWSTONE_ENDPOINT: envList(
    'URLs starting with http:// or https://',
    'https://yellowstone.example:443,https://other.example:443',
    readServerUrl,
  ).optional(),
  YELLOWSTONE_X_TOKEN: envString().optional(),
  YELLOWSTONE_SELECTION: envChoice(['auto', 'list', 'cuckoo', 'whole'], 'auto').default('auto'),
  SOLANA_RPC_URL: envUrl(['http', 'https'], 'https://rpc.example').optional(),
  KAFKA_BROKERS: envList('host:port,...', 'kafka-1:9092,kafka-2:9092', (text) =>
    /^[^\s:]+:[0-9]{1,5}$/.test(text) ? text : undefined,
  ).optional(),
  KAFKA_TOPIC_PREFIX: envText('letters, digits, dots, dashes, underscores', 'prod-', (text) =>
    /^[A-Za-z0-9._-]{1,100}$/.test(text) ? text : undefined,
  ).default(''),
  KAFKA_REPLICATION_FACTOR: envInteger(1, 9, 3).optional(),
  KAFKA_PARTITIONS: envInteger(1, 256, 24).optional(),
  KAFKA_LOG_FORMAT: envInteger(WRITTEN_FORMATS.oldest, FORMAT_VERSION, FORMAT_VERSION).default(
    WRITTEN_FORMATS.default,
  ),
  KAFKA_SSL: envBoolean().default(false),
  INGEST_FAILOVER: envBoolean().default(false),
  KAFKA_SASL: envText(
    'mechanism:user:password with plain, scram-sha-256 or scram-sha-512',
    'scram-sha-512:service:...',
    readSasl,
  ).optional(),
  CLICKHOUSE_URL: envUrls(
    ['http', 'https'],
    'http://user:password@clickhouse:8123/tracked_wallets',
  ).optional(),
  CLICKHOUSE_CLUSTER: envText('letters, digits, dashes, underscores', 'main', (text) =>
    /^[A-Za-z0-9_-]{1,100}$/.test(text) ? text : undefined,
  ).optional(),
  CLICKHOUSE_READER_URL: envUrl(
    ['http', 'https'],
    'http://reader:password@clickhouse:8123/tracked_wallets',
  ).optional(),
  TRANSACTION_BYTES_DAYS: envInteger(30, 36_500, 90).optional(),
  WALLETS_FILE: envString().optional(),
  SOL_PRICES_FILE: envString().optional(),
  PROGRAM_LABELS_FILE: envString().optional(),
  STRATEGIES_FILE: envString().optional(),
  SOL_PRICE_POOL: envText(
    'a base58 address of 32 bytes',
    'Czfq3xZZDmsdGdUyrNLtRhGc47cXcZtLG4crryfu44zE',
    (text) => parseAddress(text) ?? undefined,
  ).default(address('Czfq3xZZDmsdGdUyrNLtRhGc47cXcZtLG4crryfu44zE')),
  RPC_REFUSAL_SECONDS: envInteger(0, 86_400, 60).default(60),
  SOL_PRICE_MAX_AGE_SECONDS: envInteger(1, 10_000_000, 3600).default(3600),
  REPAIR_RPC_CALLS_PER_HOUR: envInteger(0, 1_000_000, 3600).default(3600),
  PRIVACY_SALT: envText('at least 16 characters', 'of openssl rand -hex 32', (text) =>
    text.length >= 16 ? text : undefined,
  ).optional(),
  DATA_DIR: envString().default('.data'),
  METRICS_PORT: envInteger(0, 65535, 9464).default(9464),
  OTEL_EXPORTER_OTLP_ENDPOINT: envUrl(['http', 'https'], 'http://collector:4318').optional(),
  LOG_LEVEL: envChoice(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
  ).default('info'),
}

/** The configured part of a Kafka connection. */
export interface KafkaConfig {
  readonly brokers: readonly string[]
  readonly topicPrefix: string
  /** Replicas of the topic; null: as many as there are brokers, at most three (rule K11). */
  readonly replicationFactor?: number | null
  /** Partitions of the topic, if this process creates it; default: 24 (rule K21). */
  readonly partitions?: number | undefined
  /** Format version of the entries that are appended; default: `WRITTEN_FORMATS` (rule K20). */
  readonly format?: number
  readonly ssl: boolean
  readonly sasl: Sasl | null
}

function readServerUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : undefined
}

function readSasl(text: string): Sasl | undefined {
  const [mechanism, username, ...password] = text.split(':')
  if (mechanism !== 'plain' && mechanism !== 'scram-sha-256' && mechanism !== 'scram-sha-512')
    return undefined
  return username && password.length > 0
    ? { mechanism, username, password: password.join(':') }
    : undefined
}
