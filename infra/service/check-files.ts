import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readJwtKeys } from '../../api/auth/jwt-keys.ts'
import { parseLabels } from '../../pipeline/decode/labels.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { parseSolPrices } from '../../pipeline/ingest/sol-price.ts'
import { parseWallets } from '../../pipeline/ingest/wallets-file.ts'
import { readFault } from '../../pipeline/runtime/read-fault.ts'
import { permissionFault } from '../../pipeline/runtime/secret-files.ts'
import { parseStrategies } from '../../pipeline/trending/strategies-file.ts'
import { ownsData, type ServiceConfig } from './config.ts'

/** A file that an environment variable names. */
interface NamedFile {
  readonly key: string
  readonly file: string
  /** Throws the fault of the file's text; null: the file only has to be readable. */
  readonly check: ((text: string) => unknown) | null
}

/**
 * Reads every file that the configuration names for the roles of this process, and checks the
 * permissions of secret files. Rejects with one `bad_config` that lists the faults of all files, as
 * `readEnv` does for variables. Files of recorded blocks are large, so they only have to be
 * readable.
 */
export async function checkFiles(config: ServiceConfig): Promise<void> {
  const faults = await Promise.all([
    ...filesOf(config).map(faultOf),
    ...secretsOf(config).map(([key, path]) => permissionFault(key, path)),
  ])
  const found = faults.flatMap((fault) => (fault === null ? [] : fault.split('\n')))
  if (found.length === 0) return
  const lines = found.map((line) => `  ${line}`)
  throw new ServiceError('bad_config', `bad configuration:\n${lines.join('\n')}`)
}

function filesOf({
  roles,
  source,
  solPricesFile,
  labelsFile,
  strategiesFile,
  api,
}: ServiceConfig): NamedFile[] {
  const files: NamedFile[] = []
  const name = (
    key: string,
    file: string | null | undefined,
    check: ((text: string, file: string) => unknown) | null,
  ) => {
    if (file != null) files.push({ key, file, check: check && ((text) => check(text, file)) })
  }
  if (roles.has('ingest')) name('WALLETS_FILE', source.walletsFile, parseWallets)
  name('SOL_PRICES_FILE', solPricesFile, parseSolPrices)
  if (roles.has('ingest'))
    name('PROGRAM_LABELS_FILE', labelsFile, (text, file) => parseLabels(text, file))
  if (roles.has('workers'))
    name('STRATEGIES_FILE', strategiesFile, (text, file) => parseStrategies(text, file))
  if (roles.has('api'))
    name('JWT_KEYS_FILE', api.JWT_KEYS_FILE, (text) => readJwtKeys(text, 'JWT_KEYS_FILE'))
  if (roles.has('ingest') && source.kind === 'simulator')
    for (const file of source.blocks) name('SIMULATOR_BLOCKS', file, null)
  return files
}

/** Files and folders that only the service may read, with the variable that names each. */
function secretsOf({ roles, api, dataDir, secretFiles, ...parts }: ServiceConfig) {
  const secrets: [string, string][] = [...secretFiles]
  if (roles.has('api') && api.JWT_KEYS_FILE) secrets.push(['JWT_KEYS_FILE', api.JWT_KEYS_FILE])
  const kept = ['', 'secret-key', 'jwt-keys.json', 'demo-api-key']
  if (ownsData(parts))
    for (const name of kept) secrets.push(['DATA_DIR', name === '' ? dataDir : join(dataDir, name)])
  return secrets
}

async function faultOf({ key, file, check }: NamedFile): Promise<string | null> {
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
