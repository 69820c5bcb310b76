import type { z } from 'zod'
import { SECRET_KEYS } from '../../pipeline/runtime/secret-files.ts'
import { type ServiceEnv, serviceEnv } from './config.ts'

/** The meaning of each variable, by section of the page. Markdown. */
const SECTIONS = {
  'This process': {
    ROLES: 'Roles that this process runs. Fewer than all need Kafka, ClickHouse and Redis.',
    DATA_DIR: 'Folder of everything that the embedded parts keep.',
    HOST: 'Address on which REST and WebSocket listen.',
    PORT: 'Port of REST and WebSocket; 0: any free one.',
    METRICS_PORT: 'Port of `/metrics`, `/healthz` and `/readyz` of this process; 0: off.',
    LOG_LEVEL: 'Lowest level of the log on stderr.',
    OTEL_EXPORTER_OTLP_ENDPOINT:
      'OpenTelemetry collector that takes traces by OTLP over HTTP; `/v1/traces` is added to the URL ([traces](operating.md#traces)).',
  },
  'Where data comes from': {
    INGEST_FAILOVER:
      'Whether several processes with role `ingest` share the work: one writes, the others stand by and take over ([how](operating.md#two-ingests)). The same in all of them. Requires `KAFKA_BROKERS`.',
    YELLOWSTONE_ENDPOINT:
      'Yellowstone gRPC servers: transactions (role `ingest`), accounts of pools (`workers`). The first is used; with several, the next when it stalls, lags or cannot be reached ([how](operating.md#several-yellowstone-servers)).',
    YELLOWSTONE_X_TOKEN:
      'Token of those servers; with several, one for all, or one for each, separated by commas.',
    YELLOWSTONE_SELECTION:
      'Who tells transactions of tracked wallets from others: the server by a `list` of addresses, the server by a `cuckoo` filter, or this service, which then gets the `whole` stream without votes. `auto`: by the number of wallets. A server that refuses one gets the next ([how](operating.md#many-wallets), rule K24). For the role `ingest`.',
    SOLANA_RPC_URL:
      'Solana JSON-RPC, for gaps of the stream (role `ingest`), facts about mints (`workers`) and payments (`api`). Its history must reach back to the last run of the service. Required with `YELLOWSTONE_ENDPOINT`.',
    WALLETS_FILE:
      'Tracked wallets, one base58 address per line, `#` begins a comment. The n-th is `W<n>` forever, so lines are only added at the end. Read again on SIGHUP. Required with `YELLOWSTONE_ENDPOINT`.',
    SOL_PRICE_POOL: 'Account of the Orca Whirlpool SOL/USDC pool that gives the price of SOL.',
    RPC_REFUSAL_SECONDS:
      'How long ingest waits for a block or mint that the RPC server refuses, before it goes on without ([what then](operating.md#when-rpc-refuses)).',
    SOL_PRICE_MAX_AGE_SECONDS: 'Oldest price of SOL that is used.',
    REPAIR_RPC_CALLS_PER_HOUR:
      'RPC calls per hour to fetch transactions that the stream left out. 0: breaks stay open.',
    SOL_PRICES_FILE:
      'CSV `unix_seconds,usd` with the history of that price, for the roles `ingest` and `workers`. Swaps without a price are valued by it.',
    PROGRAM_LABELS_FILE:
      'CSV `name,program_id` with names of programs whose entry points are not known ([rule B11a](rules.md#b11a-labels)), for the role `ingest` and for operator commands. Replaces the table that ships. Read again on SIGHUP.',
    STRATEGIES_FILE:
      'Filter strategies over the watchlist, for the role `workers` ([how to write one](../pipeline/trending/strategies.md)). Read again on SIGHUP.',
    SIMULATOR_HISTORY_HOURS:
      'Hours of history with which the simulated market begins. 0: none, and a busier market.',
    SIMULATOR_SEED: 'Seed of the simulated market.',
    SIMULATOR_BLOCKS: 'Files of recorded blocks that the simulator plays instead of its market.',
  },
  'Where data is kept': {
    KAFKA_BROKERS: 'Kafka brokers.',
    KAFKA_TOPIC_PREFIX: 'Prefix of topic names.',
    KAFKA_REPLICATION_FACTOR:
      'Replicas of the topic. The start fails if Kafka cannot keep as many, or if the topic has fewer.',
    KAFKA_PARTITIONS:
      'Partitions of the topic, which the first start creates. At most so many workers share the work. The number cannot be changed later.',
    KAFKA_LOG_FORMAT:
      'Format version of the entries that this process appends to the log. Raise it once every process is upgraded ([upgrades](operating.md#upgrades)).',
    KAFKA_SSL: 'Whether Kafka is reached over TLS.',
    KAFKA_SASL: 'Credentials for Kafka.',
    CLICKHOUSE_URL:
      'ClickHouse server and database. Several hosts, separated by commas, are replicas of one database: each process uses one and changes to another when it has to ([ClickHouse with replicas](operating.md#clickhouse-with-replicas)).',
    CLICKHOUSE_CLUSTER:
      'Name of the cluster of these hosts in the configuration of ClickHouse. Tables are then created on all of its servers, with replicated engines. The same in every process.',
    CLICKHOUSE_READER_URL:
      'The read-only ClickHouse user of `operator sql`, which requires it with `CLICKHOUSE_URL`. Without a database, that of `CLICKHOUSE_URL` is read.',
    TRANSACTION_BYTES_DAYS:
      'How long the bytes of transactions are kept: so many days after the end of the month of their block ([retention](operating.md#retention), rule K28). The same in every process with role `workers` and for `operator migrate`, which set it.',
    REDIS_URL:
      'Redis 6.2 or newer with `maxmemory-policy noeviction`: one server, or a master that Sentinels name ([Redis with Sentinel](operating.md#redis-with-sentinel)).',
  },
  'Secrets, the same in every process': {
    SECRET_KEY:
      'Encrypts cursors, signs login nonces and derives the secrets of webhooks: the first key encrypts and signs, all are accepted ([how to rotate it](operating.md#secret-key)). Required by roles `api` and `webhooks` with `CLICKHOUSE_URL` or `REDIS_URL`.',
    TRADE_ID_KEY:
      'Derives each `trade_id`. It must stay the same when `SECRET_KEY` is rotated. Required with several keys in `SECRET_KEY`.',
    JWT_KEYS_FILE:
      'JWK set of Ed25519 keys for dashboard tokens: the first signs, all verify ([how to make and rotate it](operating.md#token-keys)). Read again on SIGHUP. Required by role `api` with `CLICKHOUSE_URL` or `REDIS_URL`.',
    PRIVACY_SALT:
      'Key of the privacy filter: with it, served amounts and times are perturbed and sums are rounded ([privacy](privacy.md)).',
  },
  'Clients and their limits': {
    PUBLIC_URL:
      'Where clients find the API: in documents, in the message that a wallet signs, and as issuer of tokens.',
    CORS_ORIGINS: 'Origins whose pages may call the API.',
    WEBHOOK_LOOPBACK:
      '`true`: webhooks may have `http` and receivers on this machine, for tests alone (rule M1). The same for the roles `api` and `webhooks`.',
    TRUSTED_PROXIES: 'Number of proxies in front whose `X-Forwarded-For` is believed.',
    RATE_LIMIT_PER_MINUTE: 'Requests per minute of a client address (IPv6: a /64); 0: no limit.',
    LOGIN_RATE_LIMIT_PER_MINUTE:
      'Requests per minute to `/auth/nonce` and `/auth/login` of a client address, and of a wallet. An IPv6 /48 has ten times as many. 0: no limit.',
    FAILED_AUTH_LIMIT_PER_MINUTE:
      'Invalid keys and tokens per minute of a client address (IPv6: a /64). Beyond it only credentials known to be valid pass. 0: no limit.',
    KEY_LOOKUPS_AT_ONCE:
      'Concurrent look-ups of unknown keys. 64 times as many wait; more are answered 503.',
    ACCOUNT_RATE_LIMIT_PER_MINUTE:
      'Requests per minute of an account by its key, from all addresses; 0: no limit.',
    ACCOUNT_CONCURRENT_REQUESTS: 'Concurrent requests of an account in a process; 0: no limit.',
    ACCOUNT_STORE_READS:
      'Concurrent ClickHouse queries for an account in a process. More wait in a fair queue. Embedded chDB runs one in all. 0: no limit.',
    DASHBOARD_RATE_LIMIT_PER_MINUTE:
      'Requests per minute of a wallet to `/me` and `/billing`; 0: no limit.',
    DASHBOARD_CONCURRENT_REQUESTS:
      'Concurrent requests of a wallet to `/me` and `/billing` in a process; 0: no limit.',
    MAX_CONNECTIONS:
      'Open connections of a process, WebSockets included. More are closed at once. Keep it below the limit of open files (`ulimit -n`).',
    MAX_CONNECTIONS_PER_ADDRESS:
      'Open connections of a client address (IPv6: a /64) while `TRUSTED_PROXIES` is 0: behind a proxy, the proxy must limit its clients. 0: no limit.',
    CONNECTIONS_PER_KEY:
      'Feed connections of a key, and dashboards of a wallet. A newer one closes the oldest.',
    FIRST_CREDITS: 'Credits that a new account gets with its first key, once (rule L19); 0: none.',
    FIRST_CREDITS_ACCOUNTS_PER_DAY:
      'New accounts that get `FIRST_CREDITS`, in 24 hours from the first of them; later ones get none.',
    FEED_MESSAGES_PER_MINUTE:
      'Messages and protocol pings per minute that a client may send on a feed connection; 0: no limit.',
    FEED_RETENTION_HOURS: 'How far back a feed client may resume.',
    SHED_LOAD_ABOVE_MS:
      'Under overload, product calls that begin later than this in a turn of the event loop are 503 ([how](operating.md#overload), D9). 0: none is.',
    SECURITY_CONTACT:
      'Who takes reports of security problems; served as `/.well-known/security.txt` (RFC 9116).',
  },
  Payments: {
    PAYMENT_ADDRESS_PRO: 'Solana address to which Pro plans are paid; not the same as the other.',
    PAYMENT_ADDRESS_CREDITS: 'Solana address to which credits are paid.',
    USDT_MINT: 'Mint that is accepted (6 decimals).',
    CREDITS_PER_USDT: 'Credits for one USDT.',
    PLANS: 'JSON list of what a payment of exactly `usdt` buys. Names and prices are unique.',
  },
  Operators: {
    OPERATOR_CONFIRM_CREDITS:
      'Changes of an account beyond so many credits need a code ([how](operating.md#large-changes-of-credits)); 0: every change.',
  },
} satisfies Readonly<Record<string, Partial<Meanings>>>

type Meanings = Readonly<Record<keyof ServiceEnv, string>>

/** The effect of leaving a variable out, where the schema has no default. Markdown. */
const UNSET: Partial<Meanings> = {
  OTEL_EXPORTER_OTLP_ENDPOINT: 'nothing is traced',
  YELLOWSTONE_ENDPOINT: 'the built-in simulator',
  YELLOWSTONE_X_TOKEN: 'none',
  SOLANA_RPC_URL: "the simulator's",
  WALLETS_FILE: "the simulator's",
  SOL_PRICES_FILE: 'none',
  PROGRAM_LABELS_FILE: '[the one that ships](../pipeline/decode/labels.csv)',
  STRATEGIES_FILE: '[the ones that ship](../pipeline/trending/strategies.jsonc)',
  SIMULATOR_BLOCKS: 'none',
  KAFKA_BROKERS: 'a log in memory',
  KAFKA_TOPIC_PREFIX: 'none',
  KAFKA_REPLICATION_FACTOR: 'the number of brokers, at most 3',
  KAFKA_PARTITIONS: '24; of an existing topic its own',
  KAFKA_SASL: 'none',
  CLICKHOUSE_URL: 'embedded chDB in `DATA_DIR`',
  CLICKHOUSE_CLUSTER: 'none: tables are not replicated',
  CLICKHOUSE_READER_URL: 'none',
  TRANSACTION_BYTES_DAYS: 'everything is kept',
  REDIS_URL: 'a meter in memory',
  SECRET_KEY: 'made in `DATA_DIR`',
  TRADE_ID_KEY: 'the key of `SECRET_KEY`',
  JWT_KEYS_FILE: 'made in `DATA_DIR`',
  PRIVACY_SALT: 'true figures are served',
  PUBLIC_URL: '`http://HOST:PORT`',
  CORS_ORIGINS: 'none',
  SECURITY_CONTACT: 'none',
  PAYMENT_ADDRESS_PRO: "the simulator's; with `YELLOWSTONE_ENDPOINT` none, and nobody can pay",
  PAYMENT_ADDRESS_CREDITS: "the simulator's; with `YELLOWSTONE_ENDPOINT` none, and nobody can pay",
  PLANS: '`[{"plan":"trial","usdt":5,"days":3},{"plan":"monthly","usdt":49,"days":30}]`',
}

/**
 * Returns the text of `docs/configuration.md`, made from the schema that parses the environment.
 */
export function configurationPage(): string {
  // The type says that a section describes each variable.
  const keys: readonly Described[] = Object.keys(serviceEnv) as (keyof ServiceEnv)[]
  const sections = Object.entries<Partial<Meanings>>(SECTIONS).map(([title, meanings]) => {
    const rows = keys.flatMap((key) => (meanings[key] ? [rowOf(key, meanings[key])] : []))
    return `## ${title}\n\n${table([['variable', 'without it', 'expects', 'meaning'], ...rows])}\n`
  })
  return `${INTRODUCTION}\n${sections.join('\n')}`
}

type Described = { [S in keyof typeof SECTIONS]: keyof (typeof SECTIONS)[S] }[keyof typeof SECTIONS]

function rowOf(key: Described, meaning: string): string[] {
  const { fallback, expected } = describe(serviceEnv[key])
  return [`\`${key}\``, UNSET[key] ?? `\`${fallback}\``, expected, meaning]
}

/** A Markdown table with aligned columns, as the formatter writes it. The first row is the head. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const lines = rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)))
  lines.splice(
    1,
    0,
    widths.map((width) => '-'.repeat(width)),
  )
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The default and the expectation in the schema of a variable. */
function describe(schema: z.ZodType): { readonly fallback: string; readonly expected: string } {
  const { def } = schema as z.ZodDefault | z.ZodOptional
  const inner = 'innerType' in def ? (def.innerType as z.ZodType) : schema
  const expected = inner.meta()?.description ?? 'text'
  return { fallback: 'defaultValue' in def ? String(def.defaultValue) : '', expected }
}

const INTRODUCTION = `# Configuration

The service reads these environment variables at its start. Bad values, and files that cannot be
read, stop the start with one message that names each of them and what was expected. An empty value
counts as unset. This page is generated from the schema that parses them (\`npm run docs\`).

On SIGHUP a process reads \`WALLETS_FILE\`, \`PROGRAM_LABELS_FILE\`, \`STRATEGIES_FILE\` and
\`JWT_KEYS_FILE\` again. A bad file is logged, and the former content stays in force.

A secret may come from a file: \`KEY_FILE\` names a file whose text is the value of \`KEY\`, for
${SECRET_KEYS.map((key) => `\`${key}\``)
  .join(', ')
  .replace(/(.{60,99}) /g, '$1\n')}.

The start stops while other users can read or write the keys in \`DATA_DIR\`, \`JWT_KEYS_FILE\` or such
a file, or write \`DATA_DIR\`; the message prints the \`chmod\` that helps. Files of root, and those
under \`/run/secrets\`, may be readable.

Only \`npm run -s servers\` reads \`ANALYST_PASSWORD\`. It adds the read-only ClickHouse user
\`analyst\`, who does not exist without it.
`
