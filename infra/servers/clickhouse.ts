import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROLES } from '../../pipeline/config.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { ensureCommand } from './install.ts'
import { makeOwnFolder, type OwnUser } from './own-user.ts'
import { type Server, type ServerSettings, SOURCES, writeConfigFile } from './server.ts'

const DATABASE = 'tracked_wallets'
const USER = 'tracked_wallets'
/** A name that only the proxy sees. */
const CLUSTER = 'proxied'

/** Distances of ports from the first port of the folder. */
const SINGLE = 2
/** Those of the servers of a cluster. */
export const REPLICAS = [2, 8] as const
const PROXIED = [14, 15] as const

/** ClickHouse 26.7, run out of the shared library that the npm package `chdb` installs. */
export const clickhouse: Server = nodeOf('clickhouse', 'ClickHouse', SINGLE, [SINGLE])

/** Two servers, and the proxy that stands in for replication between them (`fault-proxy.ts`). */
export const clickhouseCluster: readonly Server[] = [
  ...REPLICAS.map((offset, index) =>
    nodeOf(`clickhouse-${index + 1}`, `ClickHouse ${index + 1}`, offset, PROXIED),
  ),
  {
    name: 'clickhouse-proxy',
    kind: 'clickhouse',
    title: 'ClickHouse proxy',
    ports: (base) => ({ first: base + PROXIED[0], second: base + PROXIED[1] }),
    async prepare({ portBase }) {
      const script = fileURLToPath(new URL('./fault-proxy-process.js', import.meta.url))
      const ports = [...REPLICAS, ...PROXIED].map((offset) => String(portBase + offset))
      return { file: process.execPath, args: [script, ...ports], startsAsCaller: true }
    },
    async probe({ portBase }) {
      for (const offset of PROXIED) {
        const response = await fetch(`http://127.0.0.1:${portBase + offset}/.ready`)
        if (!response.ok) throw new Error(await response.text())
      }
    },
    env: (settings) => environment(settings, PROXIED),
  },
]

/** A server at a port; `served`: the ports that the service uses. */
function nodeOf(
  name: Server['name'],
  title: string,
  offset: number,
  served: readonly number[],
): Server {
  return {
    name,
    kind: 'clickhouse',
    title,
    ports: (base) => ({ http: base + offset }),
    async prepare({ dir, portBase, secrets, user }) {
      const file = await ensureCommand('python3', 'python3')
      writeConfig(dir, secrets, user)
      return {
        file,
        args: [
          fileURLToPath(new URL('servers/clickhouse-launch.py', SOURCES)),
          sharedLibrary(),
          user ? `${user.uid}:${user.gid}` : '',
          `--config-file=${join(dir, 'config.xml')}`,
          `--path=${join(dir, 'data')}`,
          `--http_port=${portBase + offset}`,
          '--listen_host=127.0.0.1',
          '--log-level=warning',
          // The library's process is a client that runs a query and ends with it. This query opens
          // the server's port and then sleeps for days.
          '--query=SYSTEM START LISTEN HTTP; SELECT sleepEachRow(1) FROM numbers(1000000) SETTINGS max_block_size = 1 FORMAT Null',
        ],
        startsAsCaller: true,
        env: {
          CLICKHOUSE_DISK_KEY: secrets.clickhouseDiskKey,
          CLICKHOUSE_FILES: join(dir, 'data/files/'),
        },
      }
    },
    probe: (settings) => query(settings, offset, `CREATE DATABASE IF NOT EXISTS ${DATABASE}`),
    askToStop: (settings) => query(settings, offset, 'SYSTEM SHUTDOWN'),
    env: (settings) => environment(settings, served),
  }
}

function environment({ portBase, secrets }: ServerSettings, served: readonly number[]) {
  const hosts = served.map((offset) => `127.0.0.1:${portBase + offset}`)
  const urlOf = (user: string, password: string) =>
    `http://${user}:${password}@${hosts.join(',')}/${DATABASE}`
  return {
    CLICKHOUSE_URL: urlOf(USER, secrets.clickhousePassword),
    ...(hosts.length === 1 ? {} : { CLICKHOUSE_CLUSTER: CLUSTER }),
    ...Object.fromEntries(
      ROLES.map((role) => [
        `CLICKHOUSE_URL_${role.toUpperCase()}`,
        urlOf(role, secrets.rolePasswords[role]),
      ]),
    ),
    // Without a database in the URL, `sql` reads that of CLICKHOUSE_URL.
    CLICKHOUSE_READER_URL: `http://reader:${secrets.readerPassword}@${hosts[0]}`,
    ...(secrets.analystPassword === null ? {} : { ANALYST_PASSWORD: secrets.analystPassword }),
  }
}

async function query(
  { portBase, secrets }: ServerSettings,
  offset: number,
  sql: string,
): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${portBase + offset}/`, {
    method: 'POST',
    body: sql,
    headers: { 'x-clickhouse-user': USER, 'x-clickhouse-key': secrets.clickhousePassword },
    signal: AbortSignal.timeout(5000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
}

/**
 * Writes the users of production and that of the launcher. Files hold digests of passwords. No
 * password is in an environment variable, which other programs of the same user could read.
 */
function writeConfig(dir: string, secrets: ServerSettings['secrets'], user: OwnUser | null): void {
  const passwords: Readonly<Record<string, string | null>> = {
    CLICKHOUSE_PASSWORD: secrets.clickhousePassword,
    READER_PASSWORD: secrets.readerPassword,
    ANALYST_PASSWORD: secrets.analystPassword,
    INGEST_PASSWORD: secrets.rolePasswords.ingest,
    WORKERS_PASSWORD: secrets.rolePasswords.workers,
    API_PASSWORD: secrets.rolePasswords.api,
    WEBHOOKS_PASSWORD: secrets.rolePasswords.webhooks,
  }
  const text = (from: string) => readFileSync(new URL(from, SOURCES), 'utf8')
  const write = (to: string, content: string) => writeConfigFile(join(dir, to), content, user)
  const root = user && { uid: 0, gid: user.gid }
  for (const folder of ['config.d', 'users.d']) {
    rmSync(join(dir, folder), { recursive: true, force: true })
    makeOwnFolder(join(dir, folder), user ? 0o750 : 0o700, root)
  }
  write('config.xml', text('servers/clickhouse-config.xml'))
  write('config.d/access.xml', text('clickhouse/config.d/access.xml'))
  write('users.xml', text('servers/clickhouse-users.xml'))
  for (const file of readdirSync(new URL('clickhouse/users.d', SOURCES))) {
    const digested = withDigests(text(`clickhouse/users.d/${file}`), passwords)
    if (digested !== null) write(`users.d/${file}`, digested)
  }
  if (process.env.EXPORT_S3_URL) writeExports(write, text)
  // System log tables of an earlier run would prevent those of the new run.
  rmSync(join(dir, 'data/data/system'), { recursive: true, force: true })
}

/**
 * Writes the bucket for exports of the environment, and a log of queries. The keys are in a file
 * that every user of ClickHouse can read with `file()` in this build: they are those of a test.
 */
function writeExports(
  write: (to: string, content: string) => void,
  text: (from: string) => string,
) {
  const config = text('clickhouse/exports/config.xml').replace(
    /<(\w+)( \S+) from_env="(\w+)"\/>/g,
    (_, element, attribute, key) =>
      `<${element}${attribute}>${process.env[key] ?? ''}</${element}>`,
  )
  write('config.d/exports.xml', config)
  const address = (process.env.EXPORT_S3_URL ?? '').replaceAll('.', '[.]')
  write(
    'users.d/exports.xml',
    text('clickhouse/exports/users.xml').replace(/S3\('.*'\)/, `S3('${address}.*')`),
  )
  write(
    'config.d/query-log.xml',
    '<clickhouse><query_log><database>system</database><table>query_log</table></query_log></clickhouse>',
  )
}

/**
 * A file of users with SHA-256 digests in place of passwords from the environment; null if a user
 * has no password.
 */
function withDigests(
  xml: string,
  passwords: Readonly<Record<string, string | null>>,
): string | null {
  let complete = true
  const digested = xml.replace(/<password from_env="(\w+)"\/>/g, (_, key: string) => {
    const password = passwords[key] ?? null
    complete &&= password !== null
    const digest = createHash('sha256')
      .update(password ?? '')
      .digest('hex')
    return `<password_sha256_hex>${digest}</password_sha256_hex>`
  })
  return complete ? digested : null
}

function sharedLibrary(): string {
  const name = `@chdb/lib-${process.platform}-${process.arch}-gnu`
  try {
    // `chdb` depends on the library, so this resolves it wherever npm has installed it.
    const chdb = createRequire(import.meta.url).resolve('chdb/package.json')
    return join(dirname(createRequire(chdb).resolve(`${name}/package.json`)), 'libchdb.so')
  } catch (cause) {
    throw new ServiceError('unavailable', `ClickHouse is missing: npm i did not install ${name}`, {
      cause,
    })
  }
}
