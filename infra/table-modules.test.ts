import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'

/** The root of the project, two folders above the compiled test. */
const ROOT = join(import.meta.dirname, '../..')

const STORE = 'pipeline/store/tables/'

/**
 * The files that may name a table in SQL: its module, and modules of queries over several tables.
 * A query of another module joins the table by a subquery that the table's module exports.
 */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  // Tables of decoded events.
  swaps: [
    ...['swaps', 'unpriced-swaps', 'token-events', 'decoded-rows', 'withdrawn-swaps', 'rollups'],
  ].map(inStore),
  transfers: [inStore('token-events')],
  undecoded: [inStore('decoded-rows')],
  token_links: ['links', 'decoded-rows'].map(inStore),
  transactions: [inStore('transactions')],
  late_swaps: ['late-swaps', 'withdrawn-swaps'].map(inStore),
  slot_gaps: [inStore('slot-gaps')],
  sealed_slots: [inStore('sealed-slots')],
  withdrawn_slots: [inStore('withdrawn-slots')],
  withdrawn_swaps: [inStore('withdrawn-swaps')],
  // Only `EVENT_COLUMNS` names the table `sol_transfers`.
  sol_transfers: [inStore('event-rows')],
  sol_balances: ['wallet-events', 'links'].map(inStore),
  // Tables that the fold derives from events.
  lots: [inStore('books')],
  disposals: [inStore('books'), inStore('rollups')],
  first_buys: [inStore('books')],
  profit_hours: [inStore('profit-hours'), inStore('books')],
  positions: [inStore('positions'), inStore('books')],
  wallet_metrics: [inStore('wallet-metrics'), inStore('tracked-wallets')],
  wallet_token_hours: [inStore('rollups')],
  token_hours: [inStore('rollups')],
  wallet_days: [inStore('rollups')],
  fold_snapshots: [inStore('fold-snapshots')],
  progress: [inStore('progress')],
  privacy_salt: ['pipeline/workers/fold/privacy-salt.ts'],
  event_id_key: ['pipeline/workers/fold/event-id-key.ts'],
  // Facts, trending and history.
  mints: [inStore('mints')],
  sol_prices: [inStore('sol-prices'), inStore('unpriced-swaps')],
  watchlist: [inStore('watchlist')],
  pool_states: ['pool-states', 'token-prices'].map(inStore),
  signals: [inStore('signals')],
  tracked_wallets: [inStore('tracked-wallets')],
  wallet_coverage: [inStore('wallet-coverage')],
  backfills: [inStore('backfills')],
  balance_snapshots: ['balance-snapshots', 'links'].map(inStore),
  chain_breaks: [inStore('chain-breaks')],
  wallet_verifications: [inStore('wallet-verifications')],
  token_accounts: [inStore('backfills')],
  redecoded_wallets: [inStore('redecoded-wallets')],
  // Customers. The API cannot import the worker that stores deposits.
  accounts: ['api/accounts/accounts.ts'],
  api_keys: ['api/accounts/accounts.ts', 'api/accounts/named-keys.ts'],
  account_events: ['api/accounts/account-events.ts'],
  key_uses: ['api/accounts/key-uses.ts'],
  named_keys: ['api/accounts/named-keys.ts'],
  named_key_uses: ['api/accounts/key-uses.ts'],
  dashboard_sessions: ['api/auth/session-uses.ts'],
  revoked_tokens: ['api/auth/revocation-table.ts'],
  token_generations: ['api/auth/revocation-table.ts'],
  ledger_entries: ['api/credits/ledger-entries.ts', 'api/credits/ledger-sums.ts'],
  subscriptions: ['api/billing/subscriptions.ts'],
  deposits: ['pipeline/workers/deposits/deposit-finder.ts', 'api/billing/deposit-rows.ts'],
  deposit_assignments: ['api/billing/deposit-rows.ts'],
  deposit_positions: ['pipeline/workers/deposits/deposit-positions.ts'],
  webhooks: ['api/webhooks/webhooks.ts'],
  webhook_progress: ['api/webhooks/hook-progress.ts'],
  webhook_deliveries: ['api/webhooks/deliveries.ts'],
  // The database itself.
  operator_actions: ['infra/operator/audit-log.ts'],
  schema_migrations: ['pipeline/store/migrate.ts'],
}

function inStore(name: string): string {
  return `${STORE}${name}.ts`
}

const isProduction = (file: string) =>
  file.endsWith('.ts') &&
  !/\.(test|contract)\.ts$/.test(file) &&
  !/\/(testing|whole-service|simulate|simulator|bench|abuse|browser|drills)\//.test(file)

const sources = ['pipeline', 'api', 'infra'].flatMap((top) =>
  readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
    .map((file) => `${top}/${file}`)
    .filter(isProduction)
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') })),
)

const tables = [
  'schema_migrations',
  ...readdirSync(join(ROOT, 'sql')).flatMap((file) =>
    [...readFileSync(join(ROOT, 'sql', file), 'utf8').matchAll(/^CREATE TABLE .*? (\w+)$/gm)].map(
      ([, name = '']) => name,
    ),
  ),
]

/** Whether a source reads from, joins or inserts into the table. */
function names(text: string, table: string): boolean {
  const inSql = new RegExp(`\\b(?:FROM|JOIN|INTO) ${table}\\b`)
  const inCall = new RegExp(`\\b(?:insert|insertRows|inserter)\\((?:[\\w.#]+,\\s*)?\\s*'${table}'`)
  return inSql.test(text) || inCall.test(text)
}

test('only the module of a table names it in SQL', (t) => {
  const wrong = sources.flatMap(({ file, text }) =>
    tables
      .filter((table) => names(text, table) && !MODULES[table]?.includes(file))
      .map((table) => `${file} names ${table}`),
  )
  t.deepEqual(wrong, [])
})

test('a table whose name is in a variable is read and written by a module', (t) => {
  const modules = new Set(Object.values(MODULES).flat())
  const wrong = sources
    .filter(({ file }) => !modules.has(file) && !file.startsWith('pipeline/store/'))
    .filter(({ text }) => /\b(?:FROM|JOIN|INTO) \$\{/.test(text) || /\binsertRows\(/.test(text))
    .map(({ file }) => file)
  t.deepEqual(wrong, [])
})

test('every table has a module', (t) => {
  t.deepEqual(Object.keys(MODULES).sort(), [...new Set(tables)].sort())
  const stale = Object.entries(MODULES).flatMap(([table, files]) =>
    files
      .filter(
        (file) => !sources.some((source) => source.file === file && source.text.includes(table)),
      )
      .map((file) => `${file} does not name ${table}`),
  )
  t.deepEqual(stale, [])
})
