import { hashApiKey, newApiKey } from '../../../api/accounts/api-key.ts'
import type { Ledger } from '../../../api/credits/ledger.ts'
import { encodeBase58 } from '../../../pipeline/domain/base58.ts'
import { dateTime } from '../../../pipeline/store/date-time.ts'
import type { Store } from '../../../pipeline/store/store.ts'

/** An account of a bench, with its API key. */
export interface FundedAccount {
  readonly account: string
  readonly key: string
}

/** Stores so many accounts, each with an API key and this many credits. */
export async function storeFundedAccounts(
  { store, ledger }: { readonly store: Store; readonly ledger: Pick<Ledger, 'append'> },
  count: number,
  credits: number,
): Promise<FundedAccount[]> {
  const made: FundedAccount[] = []
  const created_at = dateTime(Date.now())
  for (let first = 0; first < count; first += 10_000) {
    const some = Array.from({ length: Math.min(10_000, count - first) }, (_, at) => {
      const bytes = Buffer.alloc(32, 7)
      bytes.writeUInt32BE(first + at)
      return { account: encodeBase58(bytes), key: newApiKey() }
    })
    made.push(...some)
    const keys = some.map(({ account, key }) => {
      return { wallet: account, key_sha256: hashApiKey(key), created_at }
    })
    const times = { key_created_at: created_at, key_rotated_at: null, disabled_at: null }
    await store.insert('api_keys', keys)
    await store.insert(
      'accounts',
      keys.map((row) => ({ ...row, ...times, key_last4: 'xxxx', version: 1 })),
    )
    await ledger.append(
      some.map(({ account }) => {
        return { account, key: 'created', credits, cause: 'grant', reason: '' }
      }),
    )
  }
  return made
}
