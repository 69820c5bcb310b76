import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '../pipeline/domain/service-error.ts'

/** The key that the embedded service makes for itself under `dataDir` on its first start and keeps (decisions J2). */
export async function keptSecretKey(dataDir: string): Promise<Uint8Array> {
  const path = join(dataDir, 'secret-key')
  await mkdir(dataDir, { recursive: true })
  try {
    // `wx`: of two processes that start at once, one makes the key and the other reads it.
    const file = await open(path, 'wx', 0o600)
    const key = randomBytes(32)
    await file.writeFile(key.toString('hex'))
    await file.sync()
    await file.close()
    return key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const key = Buffer.from((await readFile(path, 'utf8')).trim(), 'hex')
  if (key.length >= 32) return key
  throw new ServiceError(
    'bad_config',
    `${path}: expected at least 32 bytes in hex; delete it to have a new one made (cursors held by clients end)`,
  )
}
