import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { ServiceError } from '../domain/service-error.ts'
import { readFault } from './read-fault.ts'

/** Variables whose values are secret. For each, `KEY_FILE` may name a file with the value. */
export const SECRET_KEYS = [
  'SECRET_KEY',
  'TRADE_ID_KEY',
  'CLICKHOUSE_URL',
  'CLICKHOUSE_READER_URL',
  'REDIS_URL',
  'KAFKA_SASL',
  'YELLOWSTONE_X_TOKEN',
  'SOLANA_RPC_URL',
  'PRIVACY_SALT',
  'PROBE_API_KEY',
] as const

type Env = Readonly<Record<string, string | undefined>>

/** The secret files that the environment names, by variable (`SECRET_KEY_FILE`, ...). */
export function secretFilesOf(env: Env): ReadonlyMap<string, string> {
  const named = SECRET_KEYS.map((key) => [`${key}_FILE`, env[`${key}_FILE`] ?? ''] as const)
  return new Map(named.filter(([, file]) => file !== ''))
}

/**
 * Returns the environment with the trimmed text of each `KEY_FILE` as the value of `KEY`. Throws
 * one `bad_config` that names every unreadable or empty file, and every key that is set together
 * with its file. The error repeats no content.
 */
export function readSecretFiles(env: Env): Env {
  const faults: string[] = []
  const values: Record<string, string> = {}
  for (const [fileKey, file] of secretFilesOf(env)) {
    const key = fileKey.slice(0, -'_FILE'.length)
    if (env[key]) faults.push(`${fileKey}: ${key} is also set; set only one of them`)
    try {
      const text = readFileSync(file, 'utf8').trim()
      if (text === '') faults.push(`${fileKey}: ${file} is empty`)
      values[key] = text
    } catch (error) {
      faults.push(`${fileKey}: cannot read ${file}: ${readFault(error)}`)
    }
  }
  if (faults.length === 0) return { ...env, ...values }
  const lines = faults.map((fault) => `  ${fault}`)
  throw new ServiceError('bad_config', `bad configuration:\n${lines.join('\n')}`)
}

/** Where Docker and Kubernetes mount secrets. Owners and modes there are those of the host. */
const MOUNTED = '/run/secrets/'

/**
 * Checks the permissions of a secret file, or of a folder with secret files. Returns the fault with
 * the command that fixes it; null if there is no fault or no such path. No other user may write to
 * either. Only this user may read its own file. A file of root or a mounted file may be readable:
 * its provider decides that.
 */
export async function permissionFault(key: string, path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null)
  if (found === null) return null
  const { uid, mode } = found
  const kind = found.isDirectory() ? 'folder' : path.startsWith(MOUNTED) ? 'mount' : 'file'
  const fault = modeFault({ uid, mode, kind }, process.getuid?.() ?? uid)
  return fault === null ? null : `${key}: ${path} ${fault} ${path}`
}

/** The rule of `permissionFault` for a process of user `ownUid`, without the path. */
export function modeFault(
  { uid, mode, kind }: { uid: number; mode: number; kind: 'file' | 'folder' | 'mount' },
  ownUid: number,
): string | null {
  if (uid !== ownUid && uid !== 0 && kind === 'file')
    return `belongs to another user (${uid}): chown ${ownUid}`
  const isStrict = uid === ownUid && kind === 'file'
  if ((mode & (isStrict ? 0o077 : 0o022)) === 0) return null
  const what = (mode & 0o022) === 0 ? 'read' : 'written'
  const mended = isStrict ? '600' : 'go-w'
  const octal = (mode & 0o7777).toString(8).padStart(4, '0')
  return `can be ${what} by other users (mode ${octal}): chmod ${mended}`
}
