import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'

/** The project's root, two folders above the compiled test. */
const ROOT = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

const schema = readdirSync(join(ROOT, 'sql'))
  .filter((file) => file.endsWith('.sql'))
  .map((file) => read(`sql/${file}`))
  .join('\n')

/** Each table with its key. `pipeline/store/migrate.ts` creates the last one. */
const tables = [
  ...[...schema.matchAll(/^CREATE TABLE IF NOT EXISTS (\w+)$.*?^ORDER BY \(?(.*?)\)?$/gms)].map(
    ([, name = '', key = '']) => ({ name, key }),
  ),
  { name: 'schema_migrations', key: 'name, checksum' },
]
const views = [...schema.matchAll(/^CREATE .*?VIEW .*?\{analyst\}\.(\w+)$/gm)].map(
  ([, name = '']) => name,
)

/** The rows of the tables in one section of docs/tables.md, by cells. */
function rowsOf(section: string): string[][] {
  const text =
    read('docs/tables.md')
      .split(/^## /m)
      .find((part) => part.startsWith(section)) ?? ''
  return [...text.matchAll(/^\| +(`.*?) +\|$/gm)].map(([, row = '']) => row.split(/ +\| +/))
}
const sorted = (names: Iterable<string>) => [...new Set(names)].sort()

test('docs/tables.md lists every table with its key', (t) => {
  t.true(tables.length > 30)
  const listed = rowsOf('Tables\n').map(([name, , key]) => `${name} ${key}`)
  t.deepEqual(listed.sort(), tables.map(({ name, key }) => `\`${name}\` \`${key}\``).sort())
})

test('a schema file says in its first line whether older versions of the service go on (rule K19)', (t) => {
  const files = readdirSync(join(ROOT, 'sql')).filter((file) => file.endsWith('.sql'))
  const unmarked = files.filter(
    (file) => !/^-- (?:compatible|incompatible): \w.+\n/.test(read(`sql/${file}`)),
  )
  const OF_VERSION_1_0_0 = 48 // written before the rule
  t.is(unmarked.length, OF_VERSION_1_0_0, unmarked.slice(OF_VERSION_1_0_0 - 5).join(', '))
})

test('docs/tables.md lists every view of analysts', (t) => {
  const listed = rowsOf('Views\n').flatMap(([names = '']) =>
    [...names.matchAll(/`(\w+)/g)].map(([, name = '']) => name),
  )
  t.deepEqual(sorted(listed), sorted(views))
})

test('each table has a ClickHouse user of a role that reads it, and one that writes it', (t) => {
  const grants = ['api', 'ingest', 'webhooks', 'workers']
    .map((role) => read(`infra/clickhouse/users.d/${role}.xml`))
    .join('\n')
  const granted = (right: string) =>
    sorted(
      [...grants.matchAll(/GRANT (\w+) ON tracked_wallets\.(\w+)/g)].flatMap(
        ([, to, table = '']) => (to === right ? [table] : []),
      ),
    )
  const without = (...names: string[]) =>
    sorted(tables.map(({ name }) => name).filter((name) => !names.includes(name)))
  // Operator commands read and write these as the owner of the tables.
  t.deepEqual(granted('SELECT'), without('operator_actions', 'wallet_verifications'))
  // Operator commands write these as the owner of the tables.
  t.deepEqual(
    granted('INSERT'),
    without('operator_actions', 'schema_migrations', 'wallet_verifications'),
  )
})
