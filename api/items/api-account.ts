import { z } from 'zod'
import type { KeyState } from '../accounts/accounts.ts'
import type { Balance } from '../credits/meter.ts'
import { count, time } from './fields.ts'

/** An account as its owner sees it (contract 2.7). */
export const ApiAccount = z
  .strictObject({
    wallet: z.string().describe('The connected wallet'),
    api_key: z
      .string()
      .nullable()
      .meta({ description: 'The raw key, only in the answer that created it; else null' }),
    api_key_last4: z.string().describe('Its last four characters'),
    balance_credits: z.int().describe('Credits left, less those reserved by feed connections'),
    reserved_credits: count.describe(
      'Reserved by feed connections; what they do not use comes back',
    ),
    api_key_created_at: time.describe('When the first key was created'),
    api_key_rotated_at: time
      .nullable()
      .meta({ description: 'When the key was last rotated; null before the first rotation' }),
    last_used_at: time
      .nullable()
      .meta({ description: 'When a key of the account was last used; up to 10 s old' }),
  })
  .meta({ id: 'ApiAccount', description: 'The API key of an account, and its credits.' })

/** Renders an account. Times in unix milliseconds. */
export function apiAccount(account: {
  readonly wallet: string
  readonly apiKey: string | null
  readonly key: KeyState
  readonly balance: Balance
  readonly lastUsed: number | null
}): z.infer<typeof ApiAccount> {
  const { wallet, apiKey, key, balance, lastUsed } = account
  return {
    wallet,
    api_key: apiKey,
    api_key_last4: key.last4,
    balance_credits: balance.left,
    reserved_credits: balance.reserved,
    api_key_created_at: seconds(key.createdAt),
    api_key_rotated_at: key.rotatedAt === null ? null : seconds(key.rotatedAt),
    last_used_at: lastUsed === null ? null : seconds(lastUsed),
  }
}

function seconds(unixMs: number): number {
  return Math.floor(unixMs / 1000)
}

export const EXAMPLE_API_ACCOUNT: z.infer<typeof ApiAccount> = {
  wallet: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
  api_key: null,
  api_key_last4: 'R1nw',
  balance_credits: 49_897,
  reserved_credits: 100,
  api_key_created_at: 1_790_000_000,
  api_key_rotated_at: null,
  last_used_at: 1_790_003_600,
}
