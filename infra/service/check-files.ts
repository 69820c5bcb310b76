import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readJwtKeys } from '../../api/auth/jwt-keys.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { parseSolPrices } from '../../pipeline/ingest/sol-price.ts'
import { parseWallets } from '../../pipeline/ingest/wallets-file.ts'
import { readFault } from '../../pipeline/runtime/read-fault.ts'
import { permissionFault } from '../../pipeline/runtime/secret-files.ts'
import { parseStrategies } from '../../pipeline/trending/strategies-file.ts'
import { keepsData, type ServiceConfig } from './config.ts'

/** A file that a key of the environment names. */
interface Named {
  readonly key: string
  readonly file: string
  /** Throws what is wrong with its text; null: it is only looked whether it can be read. */
  readonly check: ((text: string) => unknown) | null
}

/**
 * Reads every file that the configuration names, for the roles of this process, and looks at the
 * permissions of secret ones. Rejects with one `bad_config` that tells for each what is wrong with
 * it, as `readEnv` does of the variables themselves. Of recorded blocks, which are large, it looks
 * only whether they can be read.
 */
export async function checkFiles(config: ServiceConfig): Promise<void> {
  const faults = await Promise.all([
    ...filesOf(config).map(faultOf),
    ...secretsOf(config).map(([key, path]) => permissionFault(key, path)),
  ])
  const told = faults.flatMap((fault) => (fault === null ? [] : fault.split('\n')))
  if (told.length === 0) return
  const lines = told.map((line) => `  ${line}`)
  throw new ServiceError('bad_config', `bad configuration:\n${lines.join('\n')}`)
}

function filesOf({ roles, source, solPricesFile, strategiesFile, api }: ServiceConfig): Named[] {
  const files: Named[] = []
  const name = (
    key: string,
    file: string | null | undefined,
    check: ((text: string, file: string) => unknown) | null,
  ) => {
    if (file != null) files.push({ key, file, check: check && ((text) => check(text, file)) })
  }
  if (roles.has('ingest')) name('WALLETS_FILE', source.walletsFile, parseWallets)
  name('SOL_PRICES_FILE', solPricesFile, parseSolPrices)
  if (roles.has('workers'))
    name('STRATEGIES_FILE', strategiesFile, (text, file) => parseStrategies(text, file))
  if (roles.has('api'))
    name('JWT_KEYS_FILE', api.JWT_KEYS_FILE, (text) => readJwtKeys(text, 'JWT_KEYS_FILE'))
  if (roles.has('ingest') && source.kind === 'simulator')
    for (const file of source.blocks) name('SIMULATOR_BLOCKS', file, null)
  return files
}

/** Files and folders that nobody but the service may read, by the key that names them. */
function secretsOf({ roles, api, dataDir, secretFiles, ...parts }: ServiceConfig) {
  const secrets: [string, string][] = [...secretFiles]
  if (roles.has('api') && api.JWT_KEYS_FILE) secrets.push(['JWT_KEYS_FILE', api.JWT_KEYS_FILE])
  const kept = ['', 'secret-key', 'jwt-keys.json', 'demo-api-key']
  if (keepsData(parts))
    for (const name of kept) secrets.push(['DATA_DIR', name === '' ? dataDir : join(dataDir, name)])
  return secrets
}

async function faultOf({ key, file, check }: Named): Promise<string | null> {
  try {
    if (check === null) await touch(file)
    else await check(await readFile(file, 'utf8'))
    return null
  } catch (error) {
    return error instanceof ServiceError
      ? error.message
      : `${key}: cannot read ${file}: ${readFault(error)}`
  }
}

async function touch(file: string): Promise<void> {
  const opened = await open(file)
  try {
    await opened.read(Buffer.alloc(1))
  } finally {
    await opened.close()
  }
}
