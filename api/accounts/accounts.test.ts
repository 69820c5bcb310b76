import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import bs58 from 'bs58'
import fc from 'fast-check'
import type { Address } from '../../pipeline/domain/address.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { Ledger } from '../credits/ledger.ts'
import { createMemoryMeter } from '../credits/memory.ts'
import { ABOUT } from '../openapi/about.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { Accounts } from './accounts.ts'
import { type ApiKey, hashApiKey, newApiKey, parseApiKey } from './api-key.ts'
import { createKeyCache } from './key-cache.ts'

/** The expression of the documents, for a whole text. */
const DOCUMENTED_KEY = /^tw_[1-9A-HJ-NP-Za-km-z]{32,50}$/
/** The key of the bytes 1 to 32, which is no account's key. */
const EXAMPLE_KEY = 'tw_SkB92YpWm4Q2ijQHH34cqbKkCZWszsiQgHVjtNeFF2FUR1nw'

let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
})
test.after.always(() => opened.remove())

const aWallet = () => bs58.encode(randomBytes(32)) as Address // 32 bytes
const parts = () => {
  const ledger = new Ledger({ store: opened.store, meter: createMemoryMeter() })
  return { ledger, accounts: new Accounts({ store: opened.store, ledger }) }
}

/** An independent implementation of the documented algorithm, as a secret scanner has one. */
const checksumOf = (random: Uint8Array) => {
  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
  return sha256(sha256(Buffer.concat([Buffer.from('tw_'), random]))).subarray(0, 4)
}
const keyOf = (...parts: Uint8Array[]) => `tw_${bs58.encode(Buffer.concat(parts))}` as const

/** The account of a valid key, or null. */
async function accountOf(accounts: Accounts, key: ApiKey): Promise<string | null> {
  return (await accounts.findKey(hashApiKey(key)))?.account ?? null
}

test('an API key is tw_ and the base58 of 32 random bytes and their checksum; one without a checksum is an old key (rule E3)', (t) => {
  const key = newApiKey()
  t.is(parseApiKey(key), key)
  t.not(newApiKey(), key)
  const bytes = bs58.decode(key.slice(3))
  t.is(bytes.length, 36)
  t.deepEqual(Buffer.from(bytes.subarray(32)), checksumOf(bytes.subarray(0, 32)))
  const old = keyOf(randomBytes(32))
  t.is(parseApiKey(old), old)
  for (const byte of [0, 1, 255]) {
    const filled = Buffer.alloc(32, byte)
    for (const one of [keyOf(filled), keyOf(filled, checksumOf(filled))]) {
      t.is(parseApiKey(one), one)
      t.regex(one, DOCUMENTED_KEY)
    }
  }
  t.is(
    keyOf(
      Uint8Array.from({ length: 32 }, (_, at) => at + 1),
      Buffer.from('62fea2d8', 'hex'),
    ),
    EXAMPLE_KEY,
  )
  t.is(parseApiKey(EXAMPLE_KEY), EXAMPLE_KEY)
})

test('other strings, and a key with one altered character, are not API keys', (t) => {
  const key = newApiKey()
  for (const text of [
    '',
    'tw_',
    key.slice(3),
    ...[31, 33, 35, 36, 37].map((length) => keyOf(Buffer.alloc(length, 1))),
    key.slice(0, 20),
    `${key.slice(0, -1)}0`,
    ` ${key}`,
    `${key}1`,
  ])
    t.is(parseApiKey(text), null, text)
  for (let at = 3; at < key.length; at++) {
    const other = key[at] === '2' ? '3' : '2'
    t.is(parseApiKey(key.slice(0, at) + other + key.slice(at + 1)), null, String(at))
  }
})

test('the documents give secret scanners the expression, an example and the algorithm', (t) => {
  const root = join(import.meta.dirname, '../../..')
  const readme = readFileSync(join(root, 'api/accounts/README.md'), 'utf8')
  for (const text of [readme, ABOUT]) {
    t.true(text.includes(DOCUMENTED_KEY.source.slice(1, -1)))
    t.true(text.includes('SHA-256(SHA-256('))
  }
  t.true(readme.includes(EXAMPLE_KEY))
})

test('an account is created once, with its credits; the store has only the hash and the last four characters of its key', async (t) => {
  const { accounts, ledger } = parts()
  const wallet = aWallet()
  const { apiKey, left } = await accounts.create(wallet, 500)
  t.is(left, 500)
  t.is(await accountOf(accounts, apiKey), wallet)
  t.is(await accountOf(accounts, newApiKey()), null)
  await t.throwsAsync(accounts.create(wallet, 500), { code: 'account_exists' })
  t.is(await accounts.adjust(wallet, -20, 'mistaken', 'key 1'), 480)
  t.is(await accounts.adjust(wallet, -20, 'mistaken', 'key 1'), 480)
  await t.throwsAsync(accounts.adjust(aWallet(), 1, 'who?', 'key 2'), { code: 'account_not_found' })
  t.deepEqual((await ledger.check()).mismatches, [])
  const [row] = await opened.store.query<Record<string, unknown>>(
    'SELECT key_sha256, key_last4 FROM accounts FINAL WHERE wallet = {wallet:String}',
    { wallet },
  )
  t.deepEqual(row, { key_sha256: hashApiKey(apiKey), key_last4: apiKey.slice(-4) })
})

test('an account whose creation was interrupted can be created again', async (t) => {
  const { ledger } = parts()
  const wallet = aWallet()
  const dying = new Accounts({
    ledger,
    store: {
      ...opened.store,
      async insert(table, ...rest) {
        if (table === 'accounts') throw new Error('killed')
        await opened.store.insert(table, ...rest)
      },
    },
  })
  await t.throwsAsync(dying.create(wallet, 7), { message: 'killed' })
  const accounts = new Accounts({ store: opened.store, ledger })
  t.is((await accounts.create(wallet, 7)).left, 7)
})

test('a key is valid until another replaces it, whatever was stored in between (rule E3)', async (t) => {
  const { accounts } = parts()
  const wallet = aWallet()
  const { apiKey: first } = await accounts.create(wallet, 0)
  const { apiKey: second, revokedSha256, key } = await accounts.rotateKey(wallet)
  t.is(revokedSha256, hashApiKey(first))
  t.is(key.last4, second.slice(-4))
  t.deepEqual(await Promise.all([first, second].map((one) => accountOf(accounts, one))), [
    null,
    wallet,
  ])
  // A process that ended between its two rows issued a key that never was valid.
  const lost = newApiKey()
  const row = { key_sha256: hashApiKey(lost), wallet, created_at: '2030-01-01 00:00:00' }
  await opened.store.insert('api_keys', [row])
  t.is(await accountOf(accounts, lost), null)
  t.is(await accountOf(accounts, second), wallet)
  // A process that may have lost its lock does not replace the key either.
  const require = () => {
    throw new ServiceError('unavailable', 'lost', { retriable: true })
  }
  const { store } = opened
  const ledger = new Ledger({ store, meter: createMemoryMeter() })
  const losing = new Accounts({
    store,
    ledger,
    locks: { withLock: (_, task) => task({ requireHeld: require }) },
  })
  await t.throwsAsync(losing.rotateKey(wallet), { code: 'unavailable' })
  t.is(await accountOf(accounts, second), wallet)
  // A process that created the account without a key at the same time changes nothing.
  await opened.store.insert('accounts', [{ wallet, created_at: '2030-01-01 00:00:00', version: 0 }])
  t.is(await accountOf(accounts, second), wallet)
  const since = async (at: number) =>
    (await accounts.revokedSince(at)).filter(({ account }) => account === wallet).length
  t.deepEqual([await since(key.rotatedAt ?? 0), await since((key.rotatedAt ?? 0) + 1)], [1, 0])
})

test('an account has no key until its key is requested; its credits stay', async (t) => {
  const { accounts, ledger } = parts()
  const wallet = aWallet()
  await Promise.all([
    accounts.ensure(wallet),
    accounts.ensure(wallet),
    parts().accounts.ensure(wallet),
  ])
  t.true(await accounts.exists(wallet))
  const deposit = { account: wallet, key: 'd', credits: 70, cause: 'deposit', reason: '' } as const
  await ledger.add(deposit)
  const opening = await Promise.all(Array.from({ length: 20 }, () => accounts.openKey(wallet)))
  t.is(opening.filter(({ apiKey }) => apiKey !== null).length, 1)
  t.is(new Set(opening.map(({ key }) => key.last4)).size, 1)
  await parts().accounts.ensure(wallet)
  t.is((await accounts.openKey(wallet)).apiKey, null)
  t.is(await accounts.adjust(wallet, -20, 'x', 'k'), 50)
  await t.throwsAsync(accounts.create(wallet, 1), { code: 'account_exists' })
})

test('of keys created concurrently, in any order, exactly one is valid, and every caller gets its last four characters', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('open', 'rotate', 'ensure'), { minLength: 1, maxLength: 12 }),
      async (steps) => {
        const { accounts } = parts()
        const wallet = aWallet()
        const shown = await Promise.all(
          steps.map(async (step) => {
            if (step === 'ensure') return accounts.ensure(wallet)
            return step === 'open' ? accounts.openKey(wallet) : accounts.rotateKey(wallet)
          }),
        )
        const keys = shown.flatMap((one) => (one?.apiKey ? [one.apiKey] : []))
        const valid = await Promise.all(keys.map((key) => accountOf(accounts, key)))
        const good = keys.filter((_, at) => valid[at] === wallet)
        const { apiKey, key } = await accounts.openKey(wallet)
        const opensKey = steps.some((step) => step !== 'ensure')
        t.is(good.length, opensKey ? 1 : 0)
        t.is(apiKey === null, opensKey)
        if (opensKey)
          t.deepEqual(
            [key.last4],
            good.map((one) => one.slice(-4)),
          )
        const rotations = steps.filter((step) => step === 'rotate').length
        t.true(keys.length === rotations || keys.length === rotations + 1)
      },
    ),
    { numRuns: 25 },
  )
})

test('a key is looked up once per interval for all requests; text that is not a key never is', async (t) => {
  const [key, other] = [newApiKey(), newApiKey()]
  const lookUps: string[] = []
  let now = 0
  let trusted = true
  const keys = createKeyCache(
    async (hash) => {
      lookUps.push(hash)
      return hash === hashApiKey(key) ? 'account' : null
    },
    { ttlMs: 1000, size: 2, now: () => now, isTrusted: () => trusted },
  )
  t.deepEqual(await Promise.all([keys.find(key), keys.find(key)]), ['account', 'account'])
  t.is(await keys.find(key), 'account')
  t.deepEqual([await keys.find(other), await keys.find('tw_no')], [null, null])
  t.deepEqual(lookUps, [key, other].map(hashApiKey))
  now = 1000
  await keys.find(key)
  t.is(lookUps.length, 3)
  trusted = false
  await keys.find(key)
  t.is(lookUps.length, 4)
  trusted = true
  // A revoked key is invalid at once, also for a look-up that is running.
  now = 2000
  const asking = keys.find(key)
  keys.revoke(hashApiKey(key))
  t.deepEqual([await asking, await keys.find(key)], [null, null])
  t.is(lookUps.length, 5)
})

test('after the cache is cleared, every key is looked up again, also one whose look-up was running', async (t) => {
  const [known, other] = [newApiKey(), newApiKey()]
  const lookUps: ((account: string | null) => void)[] = []
  let onLookUp = () => {}
  let isGone = false
  const keys = createKeyCache<string>(async () => {
    if (isGone) return null
    return new Promise((resolve) => {
      lookUps.push(resolve)
      onLookUp()
    })
  })
  /** Starts a look-up, and resolves when the store gets its query. */
  const ask = async (key: string) => {
    const begun = new Promise<void>((resolve) => {
      onLookUp = resolve
    })
    const account = keys.find(key)
    await begun
    return { account }
  }
  const first = await ask(known)
  lookUps[0]?.('account')
  t.deepEqual([await first.account, await keys.find(known)], ['account', 'account'])
  const before = await ask(other)
  keys.forgetAll()
  const after = await ask(other)
  lookUps[1]?.('account')
  t.is(await before.account, 'account')
  lookUps[2]?.(null)
  t.is(await after.account, null)
  isGone = true
  t.deepEqual([await keys.find(known), await keys.find(other)], [null, null])
})

test('a failed look-up is not cached, and the cache is bounded', async (t) => {
  let away = true
  let lookUps = 0
  const keys = createKeyCache(
    async (hash) => {
      lookUps++
      if (away) throw new Error('away')
      return hash
    },
    { size: 2 },
  )
  const many = [newApiKey(), newApiKey(), newApiKey()]
  await t.throwsAsync(keys.find(many[0] ?? ''), { message: 'away' })
  away = false
  for (const key of [...many, ...many.slice(1)]) await keys.find(key)
  t.is(lookUps, 4)
  await keys.find(many[0] ?? '')
  t.is(lookUps, 5)
})
