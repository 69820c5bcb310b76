import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { ServiceError } from '../domain/service-error.ts'
import { createClientStore } from './client-store.ts'
import type { Store } from './store.ts'
import { clickhouseCode } from './store-error.ts'

/** The part of `chdb/connection` that is used here; the package is an optional dependency. */
interface ChdbModule {
  createChdbConnection(options: { path: string }): ChdbConnection
}

type ChdbConnection = NonNullable<NonNullable<Parameters<typeof createClient>[0]>['connection']>

const DATABASE = 'tracked_wallets'

/**
 * Opens the embedded ClickHouse (chDB) on a folder, made if missing, that this process then owns alone. It runs one query at a time, beside
 * the event loop. Rejects with `bad_config` when the package is not installed or another process owns the folder.
 */
export async function openChdb(folder: string): Promise<Store> {
  const path = resolve(folder)
  mkdirSync(path, { recursive: true })
  const { createChdbConnection } = loadChdb()
  let client: ReturnType<typeof createClient>
  try {
    client = createClient({
      connection: createChdbConnection({ path }),
      log: { level: ClickHouseLogLevel.OFF },
    })
  } catch (error) {
    throw openError(error)
  }
  const store = createClientStore('chdb', client)
  try {
    for (const statement of SESSION) await store.command(statement)
  } catch (error) {
    await store.close()
    throw openError(error)
  }
  return store
}

/** What `SET` and `USE` say in one query holds for all later ones of the process. The default database is no Atomic one, hence an own. */
const SESSION = [
  `CREATE DATABASE IF NOT EXISTS ${DATABASE} ENGINE = Atomic`,
  `USE ${DATABASE}`,
  'SET output_format_json_quote_64bit_integers = 1',
  'SET max_execution_time = 30',
]

function loadChdb(): ChdbModule {
  try {
    return createRequire(import.meta.url)('chdb/connection') as ChdbModule // the shape above is its documented API
  } catch (cause) {
    throw new ServiceError(
      'bad_config',
      'the embedded ClickHouse (package chdb) cannot be loaded on this machine: set CLICKHOUSE_URL to a server, or install it with npm ci without --omit=optional (Linux and macOS, x64 and arm64)',
      { cause },
    )
  }
}

function openError(error: unknown): ServiceError {
  const cause = error instanceof ServiceError ? error.cause : error
  const owned =
    clickhouseCode(cause) === 76 || /Code: 76|lock/i.test(String((cause as Error)?.message))
  return new ServiceError(
    owned ? 'bad_config' : 'internal',
    owned
      ? 'DATA_DIR: another process owns the data; stop it, or set another folder'
      : 'DATA_DIR: the embedded ClickHouse cannot open its folder',
    { cause: error },
  )
}
