import test from 'ava'
import { openTestStore, type TestStore } from '../testing/test-store.ts'
import { statementsOf } from './migrate.ts'
import { onCluster, unreplicated } from './on-cluster.ts'

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
})
test.after.always(() => opened?.remove())

test('a table of a cluster is replicated, with the deduplication window of replicated tables', (t) => {
  t.is(
    onCluster(
      `CREATE TABLE IF NOT EXISTS lots
(
    slot UInt64
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY slot
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'FIFO lots'`,
      'main',
      'owner',
    ),
    `CREATE TABLE IF NOT EXISTS lots ON CLUSTER 'main'
(
    slot UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/main/{database}/{table}', '{replica}', version, is_deleted)
ORDER BY slot
SETTINGS index_granularity = 256, replicated_deduplication_window = 1000, replicated_deduplication_window_seconds = 604800
COMMENT 'FIFO lots'`,
  )
  t.is(
    onCluster('CREATE TABLE IF NOT EXISTS x (a UInt8)\nENGINE = MergeTree\nORDER BY a', 'm', ''),
    "CREATE TABLE IF NOT EXISTS x ON CLUSTER 'm' (a UInt8)\nENGINE = ReplicatedMergeTree('/clickhouse/tables/m/{database}/{table}', '{replica}')\nORDER BY a",
  )
})

test('the engine of a replica becomes that of one server', (t) => {
  for (const engine of [
    'ReplacingMergeTree(version, is_deleted) PARTITION BY intDiv(slot, 10) ORDER BY slot SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000',
    'ReplacingMergeTree ORDER BY (slot, wallet) SETTINGS index_granularity = 8192',
    'MergeTree ORDER BY slot',
  ]) {
    const [kind = '', ...keys] = engine.split(/ (?=PARTITION|ORDER|SETTINGS)/)
    const table = `CREATE TABLE IF NOT EXISTS x (a UInt8)\nENGINE = ${[kind, ...keys].join('\n')}`
    const [, replicated = ''] = onCluster(table, 'main', '').split('ENGINE = ')
    t.regex(replicated, /^Replicated/)
    t.is(unreplicated(replicated.replaceAll('\n', ' ')), engine)
    t.is(unreplicated(engine), engine)
  }
})

test('a view of a cluster names its owner as definer', (t) => {
  const view =
    'analyst.lots (n UInt8)\nDEFINER = CURRENT_USER SQL SECURITY DEFINER\nAS SELECT 1 AS n'
  t.is(
    onCluster(`CREATE OR REPLACE VIEW ${view}`, 'main', 'tracked_wallets'),
    "CREATE OR REPLACE VIEW analyst.lots ON CLUSTER 'main' (n UInt8)\nDEFINER = `tracked_wallets` SQL SECURITY DEFINER\nAS SELECT 1 AS n",
  )
})

test('a statement that cannot be repeated does not run on a cluster', (t) => {
  for (const statement of [
    'ALTER TABLE swaps ADD COLUMN more UInt8',
    'CREATE TABLE more (n UInt8)\nENGINE = MergeTree\nORDER BY n',
    'DROP TABLE swaps',
    'SELECT 1',
  ])
    t.throws(() => onCluster(statement, 'main', ''), {
      message: /^not a statement for a cluster: /,
    })
  t.notThrows(() => onCluster('ALTER TABLE swaps DROP COLUMN IF EXISTS more', 'main', ''))
})

test('the engine parses every statement of sql/ for a cluster, and nothing else of it changes', async (t) => {
  const { store } = opened
  const statements = statementsOf('tracked_wallets')
  t.true(statements.length > 80)
  const format = async (sql: string) => {
    const [row] = await store.query<{ text: string }>('SELECT formatQuery({sql:String}) AS text', {
      sql,
    })
    return row?.text ?? ''
  }
  let tables = 0
  for (const statement of statements) {
    const rewritten = onCluster(statement, 'main', 'owner')
    const text = await format(rewritten)
    t.regex(text, /^(?:CREATE|ALTER) [^(]*ON CLUSTER main\b/)
    t.notRegex(text, /ENGINE = (?!Replicated)|non_replicated|CURRENT_USER/)
    if (/^CREATE TABLE/.test(statement)) {
      tables += 1
      t.regex(text, /\nENGINE = Replicated(?:Replacing)?MergeTree\('\/clickhouse\/tables\/main\//)
    }
    // What was substituted, undone in the parsed text, gives the statement that one server runs.
    const undone = text
      .replace(' ON CLUSTER main', '')
      .replace(
        /Replicated((?:Replacing)?MergeTree)\('[^']*', '\{replica\}'(?:, )?([^)]*)\)/,
        '$1($2)',
      )
      .replace('MergeTree()', 'MergeTree')
      .replace(', replicated_deduplication_window_seconds = 604800', '')
      .replace(' replicated_deduplication', ' non_replicated_deduplication')
      .replace('DEFINER = owner', 'DEFINER = CURRENT_USER')
    t.is(undone, await format(statement))
  }
  t.true(tables > 40)
})
