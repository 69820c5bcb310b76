/*
 * Tests of the installed package against the running service: `clients/check.sh` copies this file
 * into a folder that has the package alone, and says where the service is and its version.
 */

import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import test from 'node:test'
import { FeedEnded, isSameTrade, logIn, Refused, TrackedWallets } from 'tracked-wallets-client'

const { CLIENTS_URL: url, CLIENTS_KEY: apiKey, CLIENTS_VERSION: version } = process.env
const service = new TrackedWallets({ url, apiKey })
const COUNT = 20
/** Bytes after which each connection in turn is cut. */
const BUDGETS = [9_000, 700, 15_001]

/** All of an iteration. */
async function all(items) {
  const found = []
  for await (const item of items) found.push(item)
  return found
}

test('every resource answers', async () => {
  const { items } = await service.trades({ limit: 1 })
  const { wallet, mint } = items[0]
  assert.deepEqual(
    {
      wallets: (await service.wallets()).page,
      walletMetrics: (await service.walletMetrics(wallet)).identity.wallet,
      walletTrades: (await service.walletTrades(wallet, { limit: 1 })).items[0].wallet,
      walletPositions: (await service.walletPositions(wallet, { status: 'all' })).wallet,
      walletPnl: (await service.walletPnl(wallet, { interval: '1h' })).wallet,
      walletHoldings: (await service.walletHoldings(wallet)).wallet,
      holdings: (await service.holdings({ alias: wallet })).alias,
      heldTokens: (await service.heldTokens({ min_wallets: 3 })).min_wallets,
      token: (await service.token(mint)).token.address,
      tokenSwaps: (await service.tokenSwaps(mint, { limit: 1 })).items[0].base_mint,
      tokenAggregates: (await service.tokenAggregates(mint)).mint,
      solPrice: (await service.solPrice({ at: items[0].block_time })).at,
      search: (await service.search(wallet)).items[0].wallet,
      account: (await service.account()).pro.active,
      status: (await service.status()).version,
    },
    {
      wallets: 1,
      walletMetrics: wallet,
      walletTrades: wallet,
      walletPositions: wallet,
      walletPnl: wallet,
      walletHoldings: wallet,
      holdings: wallet,
      heldTokens: 3,
      token: mint,
      tokenSwaps: mint,
      tokenAggregates: mint,
      solPrice: items[0].block_time,
      search: wallet,
      account: false,
      status: version,
    },
  )
})

test('a list is the same in pages of any size', async () => {
  const { items } = await service.trades({ limit: 40 })
  const span = { from: items.at(-1).block_time, to: items[0].block_time }
  const whole = await all(service.eachTrade(span))
  assert.deepEqual(await all(service.eachTrade({ ...span, limit: 9 })), whole)
  assert.ok(whole.length > 9)
})

test('a refusal has its code and the parameters at fault', async () => {
  await assert.rejects(service.trades({ limit: 0 }), (error) => {
    assert.ok(error instanceof Refused)
    assert.deepEqual(
      [error.status, error.code, error.errors],
      [
        400,
        'invalid_parameter',
        [{ in: 'query', name: 'limit', message: 'expected an integer from 1 to 100' }],
      ],
    )
    return true
  })
  const wrong = new TrackedWallets({ url, apiKey: 'tw_no' })
  await assert.rejects(wrong.account(), { name: 'Refused', code: 'unauthorized' })
  await assert.rejects(wrong.follow().next(), (error) => {
    assert.ok(error instanceof FeedEnded)
    assert.equal(error.code, 'unauthorized')
    return true
  })
})

test('a feed that is cut has every trade of `GET /trades` once and in order', async () => {
  let cuts = 0
  const proxy = createServer((client) => {
    let left = BUDGETS[cuts++ % BUDGETS.length]
    const server = connect(Number(new URL(url).port), '127.0.0.1')
    const end = () => {
      client.destroy()
      server.destroy()
    }
    client.pipe(server)
    server.on('data', (data) => {
      client.write(data.subarray(0, left))
      left -= data.length
      if (left <= 0) end()
    })
    for (const side of [client, server]) side.on('error', end).on('close', end)
  })
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const start = await service.trades({ limit: 100 })
  const since = start.items[0].block_time
  const known = start.items.filter(({ block_time: time }) => time === since).length
  const stored = async () =>
    (await all(service.eachTrade({ from: since }))).reverse().slice(known, known + COUNT)
  const got = []
  const through = new TrackedWallets({ url: `http://127.0.0.1:${proxy.address().port}`, apiKey })
  for await (const message of through.follow({ after: start.head, retryMs: 10 })) {
    assert.equal(message.kind, 'trade')
    got.push(message.trade)
    // Later trades give storage the time to have the first ones too.
    if (got.length >= COUNT && (await stored()).length === COUNT) break
  }
  proxy.close()
  const expected = await stored()
  assert.equal(expected.length, COUNT)
  assert.deepEqual(
    got.slice(0, COUNT).map((trade, index) => isSameTrade(trade, expected[index])),
    expected.map(() => true),
  )
  assert.ok(cuts >= 3)
})

test('the receiver of the README gets every trade of `GET /trades` in order', async (context) => {
  const readme = await readFile('node_modules/tracked-wallets-client/README.md', 'utf8')
  const source = /^```ts\n([^`]*readDelivery[^`]*)^```$/m.exec(readme)?.[1] ?? ''
  const file = new URL('receiver.mjs', import.meta.url)
  await writeFile(file, source.replace('receiver.listen(8000)', 'export { receiver }'))
  const { receiver } = await import(file)
  context.after(() => receiver.close())
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))

  const got = []
  let enough
  const isEnough = new Promise((resolve) => {
    enough = resolve
  })
  context.mock.method(console, 'log', (kind, trade) => {
    assert.equal(kind, 'trade')
    if (got.push(trade) === COUNT) enough()
  })
  const { items, head } = await service.trades({ limit: 100 })
  const since = items[0].block_time
  const known = items.filter(({ block_time: time }) => time === since).length
  const call = await dashboard()
  await call('GET', '/me/api') // makes the account, which has credits
  const target = `http://127.0.0.1:${receiver.address().port}/`
  const { id, secret } = await call('POST', '/me/webhooks', { url: target, after: head })
  process.env.SECRET = secret
  await isEnough
  await call('DELETE', `/me/webhooks/${id}`)

  const stored = async () =>
    (await all(service.eachTrade({ from: since }))).reverse().slice(known, known + COUNT)
  let expected = await stored()
  while (expected.length < COUNT) expected = await stored()
  assert.deepEqual(
    got.slice(0, COUNT).map((trade, index) => isSameTrade(trade, expected[index])),
    expected.map(() => true),
  )
})

/** Logs a new wallet in, and returns what calls the service with its token. */
async function dashboard() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const wallet = base58(Buffer.from(publicKey.export({ format: 'jwk' }).x, 'base64url'))
  const signMessage = (message) => sign(null, message, privateKey)
  const token = await logIn({ url, wallet, signMessage })
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
    assert.ok(response.ok, `${method} ${path} is ${response.status}`)
    return response.status === 204 ? null : response.json()
  }
}

/** Base58 text of bytes. */
function base58(bytes) {
  const letters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  let text = ''
  for (let rest = BigInt(`0x${bytes.toString('hex')}`); rest > 0n; rest /= 58n)
    text = letters[Number(rest % 58n)] + text
  return '1'.repeat(bytes.findIndex((byte) => byte !== 0)) + text
}
