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

/** ClickHouse 26.7, run out of the shared library that the npm package `chdb` installs. */
export const clickhouse: Server = {
  name: 'clickhouse',
  kind: 'clickhouse',
  title: 'ClickHouse',
  ports: (base) => ({ http: base + 2 }),
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
        `--http_port=${portBase + 2}`,
        '--listen_host=127.0.0.1',
        '--log-level=warning',
        // The library's process is a client that runs a query and ends with it. This query opens
        // the server's port and then sleeps for days.
        '--query=SYSTEM START LISTEN HTTP; SELECT sleepEachRow(1) FROM numbers(1000000) SETTINGS max_block_size = 1 FORMAT Null',
      ],
      dropsRoot: true,
      env: {
        CLICKHOUSE_DISK_KEY: secrets.clickhouseDiskKey,
        CLICKHOUSE_FILES: join(dir, 'data/files/'),
      },
    }
  },
  probe: (settings) => query(settings, `CREATE DATABASE IF NOT EXISTS ${DATABASE}`),
  askToStop: (settings) => query(settings, 'SYSTEM SHUTDOWN'),
  env: ({ portBase, secrets }) => ({
    CLICKHOUSE_URL: urlOf(USER, secrets.clickhousePassword, portBase),
    ...Object.fromEntries(
      ROLES.map((role) => [
        `CLICKHOUSE_URL_${role.toUpperCase()}`,
        urlOf(role, secrets.rolePasswords[role], portBase),
      ]),
    ),
    // Without a database in the URL, `sql` reads that of CLICKHOUSE_URL.
    CLICKHOUSE_READER_URL: `http://reader:${secrets.readerPassword}@127.0.0.1:${portBase + 2}`,
    ...(secrets.analystPassword === null ? {} : { ANALYST_PASSWORD: secrets.analystPassword }),
  }),
}

function urlOf(user: string, password: string, portBase: number): string {
  return `http://${user}:${password}@127.0.0.1:${portBase + 2}/${DATABASE}`
}

async function query({ portBase, secrets }: ServerSettings, sql: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${portBase + 2}/`, {
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
  // System log tables of an earlier run would prevent those of the new run.
  rmSync(join(dir, 'data/data/system'), { recursive: true, force: true })
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
