import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Accounts } from '../../api/accounts/accounts.ts'
import { hashApiKey, parseApiKey } from '../../api/accounts/api-key.ts'
import { addressFromBytes } from '../../pipeline/domain/address.ts'

const CREDITS = 100_000

/**
 * Returns the API key of the demo account of a simulated, embedded service (rule J1). The first
 * start creates the account with 100000 credits and stores the key in `DATA_DIR`, readable by its
 * owner alone. Later starts return the same key.
 */
export async function demoApiKey(dataDir: string, accounts: Accounts): Promise<string> {
  const file = join(dataDir, 'demo-api-key')
  const kept = parseApiKey((await readFile(file, 'utf8').catch(() => '')).trim())
  if (kept !== null && (await accounts.findKey(hashApiKey(kept))) !== null) return kept
  const { apiKey } = await accounts.create(addressFromBytes(randomBytes(32)), CREDITS)
  await writeFile(file, `${apiKey}\n`, { mode: 0o600 })
  return apiKey
}
