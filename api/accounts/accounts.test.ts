import { randomBytes } from 'node:crypto'
import test from 'ava'
import bs58 from 'bs58'
import type { Address } from '../../pipeline/domain/address.ts'
import { Ledger } from '../credits/ledger.ts'
import { createMemoryMeter } from '../credits/memory.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { Accounts } from './accounts.ts'
import { hashApiKey, newApiKey, parseApiKey } from './api-key.ts'
import { createKeyCache } from './key-cache.ts'

let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
})
test.after.always(() => opened.drop())

const aWallet = () => bs58.encode(randomBytes(32)) as Address // 32 bytes
const parts = () => {
  const ledger = new Ledger({ store: opened.store, meter: createMemoryMeter() })
  return { ledger, accounts: new Accounts({ store: opened.store, ledger }) }
}

test('an API key is tw_ and 32 random bytes in base58; anything else is none (decisions E3)', (t) => {
  const key = newApiKey()
  t.is(parseApiKey(key), key)
  t.not(newApiKey(), key)
  t.is(bs58.decode(key.slice(3)).length, 32)
  for (const text of [
    '',
    'tw_',
    key.slice(3),
    `${key}1`,
    key.slice(0, 20),
    `${key.slice(0, -1)}0`,
    ` ${key}`,
  ])
    t.is(parseApiKey(text), null, text)
})

test('an account is made once, with its credits; of its key the store knows hash and last four', async (t) => {
  const { accounts, ledger } = parts()
  const wallet = aWallet()
  const { apiKey, left } = await accounts.create(wallet, 500)
  t.is(left, 500)
  t.is(await accounts.accountOfKey(hashApiKey(apiKey)), wallet)
  t.is(await accounts.accountOfKey(hashApiKey(newApiKey())), null)
  await t.throwsAsync(accounts.create(wallet, 500), { code: 'account_exists' })
  t.is(await accounts.adjust(wallet, -20, 'mistaken', 'key 1'), 480)
  t.is(await accounts.adjust(wallet, -20, 'mistaken', 'key 1'), 480)
  await t.throwsAsync(accounts.adjust(aWallet(), 1, 'who?', 'key 2'), { code: 'account_not_found' })
  t.deepEqual((await ledger.check()).mismatches, [])
  const [row] = await opened.store.query<Record<string, unknown>>(
    'SELECT key_sha256, last4 FROM api_keys WHERE wallet = {wallet:String}',
    { wallet },
  )
  t.deepEqual(row, { key_sha256: hashApiKey(apiKey), last4: apiKey.slice(-4) })
})

test('an account whose making was cut short can be made again', async (t) => {
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

test('a revoked key is none', async (t) => {
  const { accounts } = parts()
  const wallet = aWallet()
  const { apiKey } = await accounts.create(wallet, 0)
  await opened.store.insert('api_keys', [
    {
      key_sha256: hashApiKey(apiKey),
      wallet,
      last4: apiKey.slice(-4),
      created_at: '2026-01-01 00:00:00',
      revoked_at: '2026-01-02 00:00:00',
      version: Date.now() + 1000,
    },
  ])
  t.is(await accounts.accountOfKey(hashApiKey(apiKey)), null)
})

test('a key is looked up once a while, whoever asks; what is no key never is', async (t) => {
  const [key, other] = [newApiKey(), newApiKey()]
  const asked: string[] = []
  let now = 0
  let trusted = true
  const keys = createKeyCache(
    async (hash) => {
      asked.push(hash)
      return hash === hashApiKey(key) ? 'account' : null
    },
    { ttlMs: 1000, size: 2, now: () => now, isTrusted: () => trusted },
  )
  t.deepEqual(await Promise.all([keys.accountOf(key), keys.accountOf(key)]), ['account', 'account'])
  t.is(await keys.accountOf(key), 'account')
  t.deepEqual([await keys.accountOf(other), await keys.accountOf('tw_no')], [null, null])
  t.deepEqual(asked, [key, other].map(hashApiKey))
  now = 1000
  await keys.accountOf(key)
  t.is(asked.length, 3)
  trusted = false
  await keys.accountOf(key)
  t.is(asked.length, 4)
  trusted = true
  // A key that is revoked is none at once, also for who is asking just then.
  now = 2000
  const asking = keys.accountOf(key)
  keys.revoke(hashApiKey(key))
  t.deepEqual([await asking, await keys.accountOf(key)], [null, null])
  t.is(asked.length, 5)
})

test('a look-up that fails is not remembered, and memory is bounded', async (t) => {
  let away = true
  let asked = 0
  const keys = createKeyCache(
    async (hash) => {
      asked++
      if (away) throw new Error('away')
      return hash
    },
    { size: 2 },
  )
  const many = [newApiKey(), newApiKey(), newApiKey()]
  await t.throwsAsync(keys.accountOf(many[0] ?? ''), { message: 'away' })
  away = false
  for (const key of [...many, ...many.slice(1)]) await keys.accountOf(key)
  t.is(asked, 4)
  await keys.accountOf(many[0] ?? '')
  t.is(asked, 5)
})
