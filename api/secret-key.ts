import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import { readOrCreateFile } from './read-or-create-file.ts'

/**
 * The keys of `SECRET_KEY`, at least 32 bytes each. The first encrypts and signs. All of them
 * decrypt and verify, so that a new key can replace an old one (rule J14).
 */
export type SecretKeys = readonly [Uint8Array, ...Uint8Array[]]

/**
 * Returns the secret key of the embedded service, created under `dataDir` at its first start (rule
 * J2).
 */
export async function readOrCreateSecretKey(dataDir: string): Promise<Uint8Array> {
  const path = join(dataDir, 'secret-key')
  const text = await readOrCreateFile(path, async () => randomBytes(32).toString('hex'))
  const key = Buffer.from(text.trim(), 'hex')
  if (key.length >= 32) return key
  throw new ServiceError(
    'bad_config',
    `${path}: expected at least 32 bytes in hex; delete it to have a new one made (cursors that clients have become invalid)`,
  )
}
