import { billingEnv, paymentFaults } from '../../api/billing/terms.ts'
import { apiEnv } from '../../api/config.ts'
import type { RedisUrl } from '../../api/redis-url.ts'
import { type KafkaConfig, pipelineEnv, ROLES, type Role } from '../../pipeline/config.ts'
import type { Address } from '../../pipeline/domain/address.ts'
import type { StreamServers } from '../../pipeline/ingest/stream/endpoints.ts'
import type { Selection } from '../../pipeline/ingest/stream/wallet-selection.ts'
import { type EnvOf, envInteger, envList, readEnv } from '../../pipeline/runtime/env.ts'
import type { LogLevel } from '../../pipeline/runtime/logger.ts'
import { secretFilesOf } from '../../pipeline/runtime/secret-files.ts'
import type { StoreConfig } from '../../pipeline/store/store.ts'
import { SHIPPED_STRATEGIES } from '../../pipeline/trending/strategies-file.ts'

const simulatorEnv = {
  SIMULATOR_BLOCKS: envList('files of recorded blocks', 'a.jsonl.gz,b.jsonl.gz', (text) =>
    text === '' ? undefined : text,
  ).optional(),
  SIMULATOR_SEED: envInteger(0, 4_294_967_295, 1).default(1),
  SIMULATOR_HISTORY_HOURS: envInteger(0, 720, 26).default(26),
}

const operatorEnv = {
  OPERATOR_CONFIRM_CREDITS: envInteger(0, 1_000_000_000_000, 1_000_000).default(1_000_000),
}

/** Every environment variable of the service, with its reader. */
export const serviceEnv = {
  ...pipelineEnv,
  ...apiEnv,
  ...billingEnv,
  ...simulatorEnv,
  ...operatorEnv,
}
/** The values of these variables. */
export type ServiceEnv = EnvOf<typeof serviceEnv>

/**
 * The part of the configuration that an operator command needs: where the data is. A part is a real
 * server where its variable is set, and embedded where not (rules J1, J2).
 */
export interface DataConfig {
  readonly log: { readonly kind: 'memory' } | ({ readonly kind: 'kafka' } & KafkaConfig)
  readonly store: StoreConfig
  /** `CLICKHOUSE_READER_URL`: the user that runs the operator's `sql`; null when unset. */
  readonly readerUrl: URL | null
  readonly meter: { readonly kind: 'memory' } | { readonly kind: 'redis'; readonly url: RedisUrl }
  /** `PROGRAM_LABELS_FILE` (rule B11a); null: the labels that ship. */
  readonly labelsFile: string | null
  /** `SOLANA_RPC_URL`, for a process that does not ingest; null when unset. */
  readonly rpcUrl: URL | null
  readonly solPriceMaxAgeSeconds: number
  /** How long RPC may refuse a needed block or mint, in milliseconds. */
  readonly refusalMs: number
  /** `PRIVACY_SALT`: the key that perturbs served figures (rule I2); null: they are exact. */
  readonly privacySalt: string | null
  /** `TRANSACTION_BYTES_DAYS`: how long bytes of transactions are kept; null: for ever (K28). */
  readonly transactionBytesDays: number | null
  /** Payment addresses and prices. */
  readonly billing: EnvOf<typeof billingEnv>
  readonly dataDir: string
  /**
   * An operator needs a code of `account confirm` to change more credits than this; 0: always.
   */
  readonly confirmAboveCredits: number
  readonly logLevel: LogLevel
}

/** The configuration of one process: its roles and the parts that it works with. */
export interface ServiceConfig extends DataConfig {
  /** `REPAIR_RPC_CALLS_PER_HOUR`: 0: breaks stay open (rule K8). */
  readonly repairCallsPerHour: number
  readonly roles: ReadonlySet<Role>
  /** `INGEST_FAILOVER`: this process ingests only while no other one does (rule K14). */
  readonly ingestFailover: boolean
  readonly source: SourceConfig
  readonly solPricesFile: string | null
  /** `STRATEGIES_FILE`, by default the file that ships with the program (rule G5). */
  readonly strategiesFile: string
  /** `YELLOWSTONE_SELECTION`; null: `auto`, by the number of wallets (rule K24). */
  readonly selection: Selection | null
  /** `YELLOWSTONE_ENDPOINT` with tokens, for a process that does not ingest; null when unset. */
  readonly yellowstone: StreamServers | null
  readonly metricsPort: number
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: the collector of traces; null: nothing is traced. */
  readonly tracesEndpoint: URL | null
  /** Secret files by the `KEY_FILE` variable that names each. */
  readonly secretFiles: ReadonlyMap<string, string>
  readonly api: EnvOf<typeof apiEnv>
}

/** Source of transactions. */
export type SourceConfig =
  | {
      readonly kind: 'yellowstone'
      /** The servers of `YELLOWSTONE_ENDPOINT`, at least one, with their tokens. */
      readonly servers: StreamServers
      readonly rpcUrl: URL
      readonly walletsFile: string
      readonly solPricePool: Address
    }
  | {
      readonly kind: 'simulator'
      readonly seed: number
      readonly blocks: readonly string[]
      /** Hours of history before the start, which a new installation fetches; 0: none. */
      readonly historyHours: number
      readonly walletsFile: string | null
    }

const dataEnv = {
  ...billingEnv,
  ...operatorEnv,
  CLICKHOUSE_URL: pipelineEnv.CLICKHOUSE_URL,
  CLICKHOUSE_CLUSTER: pipelineEnv.CLICKHOUSE_CLUSTER,
  CLICKHOUSE_READER_URL: pipelineEnv.CLICKHOUSE_READER_URL,
  KAFKA_BROKERS: pipelineEnv.KAFKA_BROKERS,
  KAFKA_TOPIC_PREFIX: pipelineEnv.KAFKA_TOPIC_PREFIX,
  KAFKA_REPLICATION_FACTOR: pipelineEnv.KAFKA_REPLICATION_FACTOR,
  KAFKA_PARTITIONS: pipelineEnv.KAFKA_PARTITIONS,
  KAFKA_LOG_FORMAT: pipelineEnv.KAFKA_LOG_FORMAT,
  KAFKA_SSL: pipelineEnv.KAFKA_SSL,
  KAFKA_SASL: pipelineEnv.KAFKA_SASL,
  DATA_DIR: pipelineEnv.DATA_DIR,
  PRIVACY_SALT: pipelineEnv.PRIVACY_SALT,
  TRANSACTION_BYTES_DAYS: pipelineEnv.TRANSACTION_BYTES_DAYS,
  PROGRAM_LABELS_FILE: pipelineEnv.PROGRAM_LABELS_FILE,
  SOLANA_RPC_URL: pipelineEnv.SOLANA_RPC_URL,
  RPC_REFUSAL_SECONDS: pipelineEnv.RPC_REFUSAL_SECONDS,
  SOL_PRICE_MAX_AGE_SECONDS: pipelineEnv.SOL_PRICE_MAX_AGE_SECONDS,
  LOG_LEVEL: pipelineEnv.LOG_LEVEL,
  REDIS_URL: apiEnv.REDIS_URL,
}

/** Reads the configuration of an operator command; throws as `loadConfig` does. */
export function loadDataConfig(env: Readonly<Record<string, string | undefined>>): DataConfig {
  return dataOf(readEnv(dataEnv, env))
}

function dataOf(values: EnvOf<typeof dataEnv>): DataConfig {
  return {
    billing: values,
    privacySalt: values.PRIVACY_SALT ?? null,
    transactionBytesDays: values.TRANSACTION_BYTES_DAYS ?? null,
    store: storeOf(values),
    readerUrl: values.CLICKHOUSE_READER_URL ?? null,
    log: values.KAFKA_BROKERS
      ? {
          kind: 'kafka',
          brokers: values.KAFKA_BROKERS,
          topicPrefix: values.KAFKA_TOPIC_PREFIX,
          replicationFactor: values.KAFKA_REPLICATION_FACTOR ?? null,
          partitions: values.KAFKA_PARTITIONS,
          format: values.KAFKA_LOG_FORMAT,
          ssl: values.KAFKA_SSL,
          sasl: values.KAFKA_SASL ?? null,
        }
      : { kind: 'memory' },
    meter: values.REDIS_URL ? { kind: 'redis', url: values.REDIS_URL } : { kind: 'memory' },
    dataDir: values.DATA_DIR,
    confirmAboveCredits: values.OPERATOR_CONFIRM_CREDITS,
    logLevel: values.LOG_LEVEL,
    rpcUrl: values.SOLANA_RPC_URL ?? null,
    labelsFile: values.PROGRAM_LABELS_FILE ?? null,
    refusalMs: values.RPC_REFUSAL_SECONDS * 1000,
    solPriceMaxAgeSeconds: values.SOL_PRICE_MAX_AGE_SECONDS,
  }
}

function storeOf(values: EnvOf<typeof dataEnv>): StoreConfig {
  const [url, ...otherUrls] = values.CLICKHOUSE_URL ?? []
  return url === undefined
    ? { kind: 'chdb', path: `${values.DATA_DIR}/clickhouse` }
    : { kind: 'clickhouse', url, otherUrls, cluster: values.CLICKHOUSE_CLUSTER ?? null }
}

/** Reads the whole environment; throws one ServiceError `bad_config` that names every bad key. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): ServiceConfig {
  const values = readEnv(serviceEnv, env, contradictions)
  return {
    roles: new Set(values.ROLES),
    ingestFailover: values.INGEST_FAILOVER,
    source: sourceOf(values),
    selection: values.YELLOWSTONE_SELECTION === 'auto' ? null : values.YELLOWSTONE_SELECTION,
    yellowstone: values.YELLOWSTONE_ENDPOINT ? serversOf(values) : null,
    ...dataOf(values),
    solPricesFile: values.SOL_PRICES_FILE ?? null,
    repairCallsPerHour: values.REPAIR_RPC_CALLS_PER_HOUR,
    strategiesFile: values.STRATEGIES_FILE ?? SHIPPED_STRATEGIES,
    metricsPort: values.METRICS_PORT,
    tracesEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    secretFiles: secretFilesOf(env),
    api: values,
  }
}

/**
 * Whether this process is the only owner of data: a store, meter or log that is embedded, in
 * `DATA_DIR` or in memory.
 */
export function ownsData({ store, meter, log }: Pick<ServiceConfig, 'store' | 'meter' | 'log'>) {
  return store.kind === 'chdb' || meter.kind === 'memory' || log.kind === 'memory'
}

function sourceOf(values: ServiceEnv): SourceConfig {
  const { YELLOWSTONE_ENDPOINT, SOLANA_RPC_URL, WALLETS_FILE } = values
  if (YELLOWSTONE_ENDPOINT && SOLANA_RPC_URL && WALLETS_FILE) {
    return {
      kind: 'yellowstone',
      servers: serversOf(values),
      rpcUrl: SOLANA_RPC_URL,
      walletsFile: WALLETS_FILE,
      solPricePool: values.SOL_PRICE_POOL,
    }
  }
  return {
    kind: 'simulator',
    seed: values.SIMULATOR_SEED,
    blocks: values.SIMULATOR_BLOCKS ?? [],
    historyHours: values.SIMULATOR_HISTORY_HOURS,
    walletsFile: WALLETS_FILE ?? null,
  }
}

/** The Yellowstone servers with their tokens. One token is for all; with one server, any text. */
function serversOf(values: ServiceEnv): StreamServers {
  const { YELLOWSTONE_ENDPOINT: urls = [], YELLOWSTONE_X_TOKEN: text } = values
  const tokens = urls.length === 1 ? [text] : tokensOf(text)
  const servers = urls.map(({ href }, at) => ({
    endpoint: href,
    xToken: (tokens.length === 1 ? tokens[0] : tokens[at]) ?? null,
  }))
  return servers as unknown as StreamServers // a list has at least one item
}

function tokensOf(text: string | undefined): (string | undefined)[] {
  return text === undefined ? [undefined] : text.split(',').map((token) => token.trim())
}

/** Faults of several variables together, as `KEY: message`. */
function contradictions(values: ServiceEnv): string[] {
  const faults = paymentFaults(values)
  const need = (key: keyof ServiceEnv, why: string) => {
    if (values[key] === undefined) faults.push(`${key}: required ${why}`)
  }
  const roles = new Set(values.ROLES)
  if (values.CLICKHOUSE_CLUSTER !== undefined)
    need('CLICKHOUSE_URL', 'with CLICKHOUSE_CLUSTER: the servers of the cluster')
  if (values.YELLOWSTONE_ENDPOINT !== undefined && (roles.has('ingest') || roles.has('workers'))) {
    need('SOLANA_RPC_URL', 'with YELLOWSTONE_ENDPOINT, for backfills and mint facts')
  }
  if (values.YELLOWSTONE_ENDPOINT !== undefined && roles.has('ingest')) {
    need('WALLETS_FILE', 'with YELLOWSTONE_ENDPOINT: one base58 address a line')
  }
  if (values.YELLOWSTONE_ENDPOINT === undefined && values.YELLOWSTONE_X_TOKEN !== undefined) {
    faults.push('YELLOWSTONE_X_TOKEN: has no effect without YELLOWSTONE_ENDPOINT')
  }
  const { length: servers } = values.YELLOWSTONE_ENDPOINT ?? []
  const { length: tokens } = tokensOf(values.YELLOWSTONE_X_TOKEN)
  if (servers > 1 && tokens !== 1 && tokens !== servers) {
    faults.push(
      `YELLOWSTONE_X_TOKEN: expected one token, or one for each of the ${servers} servers of YELLOWSTONE_ENDPOINT`,
    )
  }
  if (values.YELLOWSTONE_ENDPOINT !== undefined && values.SIMULATOR_BLOCKS !== undefined) {
    faults.push('SIMULATOR_BLOCKS: has no effect with YELLOWSTONE_ENDPOINT; set only one of them')
  }
  if (values.INGEST_FAILOVER) {
    need('KAFKA_BROKERS', 'with INGEST_FAILOVER: a log in memory has one process')
  }
  if (roles.size < ROLES.length) {
    const why = 'unless ROLES names all roles: processes can share only real servers'
    need('KAFKA_BROKERS', why)
    need('CLICKHOUSE_URL', why)
    need('REDIS_URL', why)
  }
  if (roles.has('api') && values.PORT !== 0 && values.METRICS_PORT === values.PORT) {
    faults.push('METRICS_PORT: must differ from PORT')
  }
  const isShared = (values.REDIS_URL ?? values.CLICKHOUSE_URL) !== undefined
  if (roles.has('api') && isShared) {
    need(
      'JWT_KEYS_FILE',
      'by role api with REDIS_URL or CLICKHOUSE_URL: a JWK set of Ed25519 keys, the same in every process; docs/operating.md has the command',
    )
  }
  if ((roles.has('api') || roles.has('webhooks')) && isShared) {
    need(
      'SECRET_KEY',
      'by roles api and webhooks with REDIS_URL or CLICKHOUSE_URL: 32 bytes or more in hex or base64, the same in every process, for example from: openssl rand -hex 32',
    )
  }
  if (values.SECRET_KEY !== undefined && values.SECRET_KEY.length > 1)
    need(
      'TRADE_ID_KEY',
      'with several keys in SECRET_KEY: the only key that SECRET_KEY had before, so that no trade_id changes',
    )
  return faults
}
