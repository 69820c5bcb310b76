import type { z } from 'zod'
import { SECRET_KEYS } from '../../pipeline/runtime/secret-files.ts'
import { type ServiceEnv, serviceEnv } from './config.ts'

/** The description of one variable in `docs/configuration.md`, in addition to its schema. */
interface Entry {
  readonly group: Group
  /** Markdown. */
  readonly text: string
  /** The effect of leaving the variable out, if the schema has no default. */
  readonly unset?: string
}

const GROUPS = {
  process: 'This process',
  source: 'Where data comes from',
  storage: 'Where data is kept',
  secrets: 'Secrets, the same in every process',
  http: 'Clients and their limits',
  payments: 'Payments',
  operators: 'Operators',
} as const
type Group = keyof typeof GROUPS

const ENTRIES: Readonly<Record<keyof ServiceEnv, Entry>> = {
  ROLES: {
    group: 'process',
    text: 'Roles that this process runs. Fewer than all need Kafka, ClickHouse and Redis.',
  },
  DATA_DIR: { group: 'process', text: 'Folder of everything that the embedded parts keep.' },
  HOST: { group: 'process', text: 'Address on which REST and WebSocket listen.' },
  PORT: { group: 'process', text: 'Port of REST and WebSocket; 0: any free one.' },
  METRICS_PORT: {
    group: 'process',
    text: 'Port of `/metrics`, `/healthz` and `/readyz` of this process; 0: off.',
  },
  LOG_LEVEL: { group: 'process', text: 'Lowest level of the log on stderr.' },
  YELLOWSTONE_ENDPOINT: {
    group: 'source',
    text: 'Yellowstone gRPC server: transactions (role `ingest`), accounts of pools (`workers`).',
    unset: 'the built-in simulator',
  },
  YELLOWSTONE_X_TOKEN: { group: 'source', text: 'Token of that server.', unset: 'none' },
  SOLANA_RPC_URL: {
    group: 'source',
    text: 'Solana JSON-RPC, for gaps of the stream (role `ingest`), facts about mints (`workers`) and payments (`api`). Its history must reach back to the last run of the service. Required with `YELLOWSTONE_ENDPOINT`.',
    unset: "the simulator's",
  },
  WALLETS_FILE: {
    group: 'source',
    text: 'Tracked wallets, one base58 address per line, `#` begins a comment. The n-th is `W<n>` forever, so lines are only added at the end. Read again on SIGHUP. Required with `YELLOWSTONE_ENDPOINT`.',
    unset: "the simulator's",
  },
  SOL_PRICE_POOL: {
    group: 'source',
    text: 'Account of the Orca Whirlpool SOL/USDC pool that gives the price of SOL.',
  },
  REPAIR_RPC_CALLS_PER_HOUR: {
    group: 'source',
    text: 'RPC calls per hour to fetch transactions that the stream left out. 0: breaks stay open.',
  },
  SOL_PRICE_MAX_AGE_SECONDS: { group: 'source', text: 'Oldest price of SOL that is used.' },
  SOL_PRICES_FILE: {
    group: 'source',
    text: 'CSV `unix_seconds,usd` with the history of that price, for the roles `ingest` and `workers`. Swaps without a price are valued by it.',
    unset: 'none',
  },
  STRATEGIES_FILE: {
    group: 'source',
    text: 'Filter strategies over the watchlist, for the role `workers` ([how to write one](../pipeline/trending/strategies.md)). Read again on SIGHUP.',
    unset: '[the ones that ship](../pipeline/trending/strategies.jsonc)',
  },
  SIMULATOR_HISTORY_HOURS: {
    group: 'source',
    text: 'Hours of history with which the simulated market begins. 0: none, and a busier market.',
  },
  SIMULATOR_SEED: { group: 'source', text: 'Seed of the simulated market.' },
  SIMULATOR_BLOCKS: {
    group: 'source',
    text: 'Files of recorded blocks that the simulator plays instead of its market.',
    unset: 'none',
  },
  KAFKA_BROKERS: { group: 'storage', text: 'Kafka brokers.', unset: 'a log in memory' },
  KAFKA_TOPIC_PREFIX: { group: 'storage', text: 'Prefix of topic names.', unset: 'none' },
  KAFKA_SSL: { group: 'storage', text: 'Whether Kafka is reached over TLS.' },
  KAFKA_SASL: { group: 'storage', text: 'Credentials for Kafka.', unset: 'none' },
  CLICKHOUSE_URL: {
    group: 'storage',
    text: 'ClickHouse server and database.',
    unset: 'embedded chDB in `DATA_DIR`',
  },
  CLICKHOUSE_READER_URL: {
    group: 'storage',
    text: 'The read-only ClickHouse user of `operator sql`, which requires it with `CLICKHOUSE_URL`. Without a database, that of `CLICKHOUSE_URL` is read.',
    unset: 'none',
  },
  REDIS_URL: {
    group: 'storage',
    text: 'Redis 6.2 or newer with `maxmemory-policy noeviction`.',
    unset: 'a meter in memory',
  },
  SECRET_KEY: {
    group: 'secrets',
    text: 'Encrypts cursors and signs login nonces. Required by role `api` with `CLICKHOUSE_URL` or `REDIS_URL`.',
    unset: 'made in `DATA_DIR`',
  },
  JWT_KEYS_FILE: {
    group: 'secrets',
    text: 'JWK set of Ed25519 keys for dashboard tokens: the first signs, all verify ([how to make and rotate it](operating.md#token-keys)). Read again on SIGHUP. Required by role `api` with `CLICKHOUSE_URL` or `REDIS_URL`.',
    unset: 'made in `DATA_DIR`',
  },
  PRIVACY_SALT: {
    group: 'secrets',
    text: 'Key of the privacy filter: with it, served amounts and times are perturbed and sums are rounded ([privacy](privacy.md)).',
    unset: 'true figures are served',
  },
  PUBLIC_URL: {
    group: 'http',
    text: 'Where clients find the API: in documents, in the message that a wallet signs, and as issuer of tokens.',
    unset: '`http://HOST:PORT`',
  },
  CORS_ORIGINS: { group: 'http', text: 'Origins whose pages may call the API.', unset: 'none' },
  TRUSTED_PROXIES: {
    group: 'http',
    text: 'Number of proxies in front whose `X-Forwarded-For` is believed.',
  },
  RATE_LIMIT_PER_MINUTE: {
    group: 'http',
    text: 'Requests per minute of a client address (IPv6: a /64); 0: no limit.',
  },
  LOGIN_RATE_LIMIT_PER_MINUTE: {
    group: 'http',
    text: 'Requests per minute to `/auth/nonce` and `/auth/login` of a client address, and of a wallet. An IPv6 /48 has ten times as many. 0: no limit.',
  },
  FAILED_AUTH_LIMIT_PER_MINUTE: {
    group: 'http',
    text: 'Invalid keys and tokens per minute of a client address (IPv6: a /64). Beyond it only credentials known to be valid pass. 0: no limit.',
  },
  KEY_LOOKUPS_AT_ONCE: {
    group: 'http',
    text: 'Concurrent look-ups of unknown keys. 64 times as many wait; more are answered 503.',
  },
  ACCOUNT_RATE_LIMIT_PER_MINUTE: {
    group: 'http',
    text: 'Requests per minute of an account by its key, from all addresses; 0: no limit.',
  },
  ACCOUNT_CONCURRENT_REQUESTS: {
    group: 'http',
    text: 'Concurrent requests of an account in a process; 0: no limit.',
  },
  ACCOUNT_STORE_READS: {
    group: 'http',
    text: 'Concurrent ClickHouse queries for an account in a process. More wait in a fair queue. Embedded chDB runs one in all. 0: no limit.',
  },
  DASHBOARD_RATE_LIMIT_PER_MINUTE: {
    group: 'http',
    text: 'Requests per minute of a wallet to `/me` and `/billing`; 0: no limit.',
  },
  DASHBOARD_CONCURRENT_REQUESTS: {
    group: 'http',
    text: 'Concurrent requests of a wallet to `/me` and `/billing` in a process; 0: no limit.',
  },
  MAX_CONNECTIONS: {
    group: 'http',
    text: 'Open connections of a process, WebSockets included. More are closed at once. Keep it below the limit of open files (`ulimit -n`).',
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    group: 'http',
    text: 'Open connections of a client address (IPv6: a /64) while `TRUSTED_PROXIES` is 0: behind a proxy, the proxy must limit its clients. 0: no limit.',
  },
  CONNECTIONS_PER_KEY: {
    group: 'http',
    text: 'Feed connections of a key, and dashboards of a wallet. A newer one closes the oldest.',
  },
  FEED_MESSAGES_PER_MINUTE: {
    group: 'http',
    text: 'Messages and protocol pings per minute that a client may send on a feed connection; 0: no limit.',
  },
  FEED_RETENTION_HOURS: { group: 'http', text: 'How far back a feed client may resume.' },
  SECURITY_CONTACT: {
    group: 'http',
    text: 'Who takes reports of security problems; served as `/.well-known/security.txt` (RFC 9116).',
    unset: 'none',
  },
  PAYMENT_ADDRESS_PRO: {
    group: 'payments',
    text: 'Solana address to which Pro plans are paid; not the same as the other.',
    unset: "the simulator's; with `YELLOWSTONE_ENDPOINT` none, and nobody can pay",
  },
  PAYMENT_ADDRESS_CREDITS: {
    group: 'payments',
    text: 'Solana address to which credits are paid.',
    unset: "the simulator's; with `YELLOWSTONE_ENDPOINT` none, and nobody can pay",
  },
  USDT_MINT: { group: 'payments', text: 'Mint that is accepted (6 decimals).' },
  CREDITS_PER_USDT: { group: 'payments', text: 'Credits for one USDT.' },
  PLANS: {
    group: 'payments',
    text: 'JSON list of what a payment of exactly `usdt` buys. Names and prices are unique.',
    unset: '`[{"plan":"trial","usdt":5,"days":3},{"plan":"monthly","usdt":49,"days":30}]`',
  },
  OPERATOR_CONFIRM_CREDITS: {
    group: 'operators',
    text: 'Changes of an account beyond so many credits need a code ([how](operating.md#large-changes-of-credits)); 0: every change.',
  },
}

/**
 * Returns the text of `docs/configuration.md`, made from the schema that parses the environment.
 */
export function configurationPage(): string {
  const keys = Object.keys(serviceEnv) as (keyof ServiceEnv)[]
  const groups = Object.entries(GROUPS).map(([group, title]) => {
    const rows = keys.filter((key) => ENTRIES[key].group === group).map(rowOf)
    return `## ${title}\n\n${table([['variable', 'without it', 'expects', 'meaning'], ...rows])}\n`
  })
  return `${INTRODUCTION}\n${groups.join('\n')}`
}

function rowOf(key: keyof ServiceEnv): string[] {
  const { text, unset } = ENTRIES[key]
  const { fallback, expected } = describe(serviceEnv[key])
  return [`\`${key}\``, unset ?? `\`${fallback}\``, expected, text]
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

On SIGHUP a process reads \`WALLETS_FILE\`, \`STRATEGIES_FILE\` and \`JWT_KEYS_FILE\` again. A bad file is
logged, and the former content stays in force.

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
