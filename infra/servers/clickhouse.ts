import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { ensureCommand } from './install.ts'
import { type Server, type ServerPlace, SOURCES } from './server.ts'

const DATABASE = 'tracked_wallets'
const USER = 'tracked_wallets'

/** ClickHouse 26.7, the whole server out of the shared library that the embedded engine installs. */
export const clickhouse: Server = {
  name: 'clickhouse',
  title: 'ClickHouse',
  ports: (base) => ({ http: base + 2 }),
  async prepare({ dir, portBase, secrets }) {
    const file = await ensureCommand('python3', 'python3')
    writeConfig(dir, secrets.analystPassword !== null)
    return {
      file,
      args: [
        fileURLToPath(new URL('servers/clickhouse-launch.py', SOURCES)),
        sharedLibrary(),
        `--config-file=${join(dir, 'config.xml')}`,
        `--path=${join(dir, 'data')}`,
        `--http_port=${portBase + 2}`,
        '--listen_host=127.0.0.1',
        '--log-level=warning',
        // The process is a client that runs a query; this one opens the server's port and then sleeps for days, which is the server's life.
        '--query=SYSTEM START LISTEN HTTP; SELECT sleepEachRow(1) FROM numbers(1000000) SETTINGS max_block_size = 1 FORMAT Null',
      ],
      env: {
        CLICKHOUSE_PASSWORD: secrets.clickhousePassword,
        ...(secrets.analystPassword === null ? {} : { ANALYST_PASSWORD: secrets.analystPassword }),
      },
    }
  },
  probe: (place) => query(place, `CREATE DATABASE IF NOT EXISTS ${DATABASE}`),
  askToStop: (place) => query(place, 'SYSTEM SHUTDOWN'),
  env: ({ portBase, secrets }) => ({
    CLICKHOUSE_URL: `http://${USER}:${secrets.clickhousePassword}@127.0.0.1:${portBase + 2}/${DATABASE}`,
    ...(secrets.analystPassword === null ? {} : { ANALYST_PASSWORD: secrets.analystPassword }),
  }),
}

async function query({ portBase, secrets }: ServerPlace, sql: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${portBase + 2}/`, {
    method: 'POST',
    body: sql,
    headers: { 'x-clickhouse-user': USER, 'x-clickhouse-key': secrets.clickhousePassword },
    signal: AbortSignal.timeout(5000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
}

/** The same users as in production, and the launcher's own. */
function writeConfig(dir: string, analyst: boolean): void {
  const copy = (from: string, to: string) => {
    mkdirSync(dirname(join(dir, to)), { recursive: true })
    cpSync(fileURLToPath(new URL(from, SOURCES)), join(dir, to))
  }
  copy('servers/clickhouse-config.xml', 'config.xml')
  copy('clickhouse/config.d/access.xml', 'config.d/access.xml')
  copy('servers/clickhouse-users.xml', 'users.xml')
  copy('clickhouse/users.d/service.xml', 'users.d/service.xml')
  rmSync(join(dir, 'users.d/analyst.xml'), { force: true })
  if (analyst) copy('clickhouse/users.d/analyst.xml', 'users.d/analyst.xml')
  // Logs of an earlier run stop the new run's from being written.
  rmSync(join(dir, 'data/data/system'), { recursive: true, force: true })
}

function sharedLibrary(): string {
  const name = `@chdb/lib-${process.platform}-${process.arch}-gnu`
  try {
    // `chdb` depends on it, wherever npm has put it.
    const chdb = createRequire(import.meta.url).resolve('chdb/package.json')
    return join(dirname(createRequire(chdb).resolve(`${name}/package.json`)), 'libchdb.so')
  } catch (cause) {
    throw new ServiceError('unavailable', `ClickHouse is missing: npm i did not install ${name}`, {
      cause,
    })
  }
}
