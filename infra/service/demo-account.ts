import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Accounts } from '../../api/accounts/accounts.ts'
import { hashApiKey, parseApiKey } from '../../api/accounts/api-key.ts'
import { addressFromBytes } from '../../pipeline/domain/address.ts'

const CREDITS = 100_000

/**
 * The key of the demo account of a simulated, embedded service (rule J1): made at the first start with 100000 credits, and kept
 * in `DATA_DIR`, for its owner's eyes alone, so that later starts show the same one.
 */
export async function demoApiKey(dataDir: string, accounts: Accounts): Promise<string> {
  const file = join(dataDir, 'demo-api-key')
  const kept = parseApiKey((await readFile(file, 'utf8').catch(() => '')).trim())
  if (kept !== null && (await accounts.accountOfKey(hashApiKey(kept))) !== null) return kept
  const { apiKey } = await accounts.create(addressFromBytes(randomBytes(32)), CREDITS)
  await writeFile(file, `${apiKey}\n`, { mode: 0o600 })
  return apiKey
}
