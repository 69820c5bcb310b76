import { randomBytes } from 'node:crypto'
import bs58 from 'bs58'
import { createWallet } from '../../bench/kit/wallet.ts'
import { sendRequest } from '../ask.ts'
import { postJson } from '../service.ts'
import { type Burst, countSent, judgeTally, scaled, sendAtPace } from './burst.ts'
import { connections, readers, upgrades } from './held-connections.ts'

const MIB = 1024 * 1024
const PATH = '/wallets/{}/metrics'

/** A query string of 13.5 KB with 3700 distinct keys. */
const KEYS = Array.from({ length: 3700 }, (_, n) => n.toString(36)).join('&')

const queries: Burst = {
  name: 'query keys',
  title: '13 requests a second with 13.5 KB of distinct query keys',
  async run(world, scale) {
    const paths = ['/healthz', '/wallets', '/trades', '/status']
    const headers = { authorization: `Bearer ${world.attackers[0]?.key}` }
    const tally = await sendAtPace(world, {
      count: scaled(100, scale),
      concurrency: 16,
      perSecond: 13,
      addresses: [world.address()],
      request: (n) => ({ path: `${paths[n % paths.length]}?${KEYS}`, headers }),
    })
    return judgeTally(tally, [400])
  },
}

const readiness: Burst = {
  name: 'readiness',
  title: 'GET /readyz over 300 connections at once',
  async run(world, scale) {
    const connections = scaled(250, Math.max(scale, 0.5))
    const addresses = [world.address(), world.address()]
    const tally = await sendAtPace(world, {
      count: scaled(4000, scale),
      concurrency: connections + 50,
      perSecond: 1000,
      addresses,
      request: () => ({ path: '/readyz' }),
    })
    const { body } = await sendRequest(world.target, { path: '/status' })
    const status = JSON.parse(body) as {
      ingest: { slot: number }
      storage: { slot: number }
    } // rule J4
    const behind = status.ingest.slot - status.storage.slot
    const faults = behind > 20 ? [`storage is ${behind} slots behind`] : []
    if (tally.bodies.get(200)?.includes('checks')) faults.push('strangers see the single checks')
    const outcome = judgeTally(tally, [200], faults)
    return { ...outcome, note: `${outcome.note}; storage ${behind} slots behind` }
  },
}

const paths: Burst = {
  name: 'long paths',
  title: '10,000 anonymous requests with distinct paths and queries of 15 KB',
  async run(world, scale, memory) {
    const before = await memory()
    const long = (n: number) => `${n}`.padEnd(15_000, 'a')
    const tally = await sendAtPace(world, {
      count: scaled(10_000, scale),
      concurrency: 16,
      perSecond: 600,
      addresses: [world.address()],
      request: (n) => ({
        path: n % 2 === 0 ? PATH.replace('{}', long(n)) : `/healthz?${long(n)}`,
      }),
    })
    const after = await memory()
    const grown = ((after?.held ?? 0) - (before?.held ?? 0)) / MIB
    const faults = grown > 32 ? [`holds ${grown.toFixed(0)} MiB more`] : []
    const outcome = judgeTally(tally, [400, 401, 429], faults)
    return { ...outcome, note: `${outcome.note}; holds ${grown.toFixed(0)} MiB more` }
  },
}

const keys: Burst = {
  name: 'wrong keys',
  title: '5,900 well-formed wrong keys from one address',
  async run(world, scale) {
    const tally = await sendAtPace(world, {
      count: scaled(5900, scale),
      concurrency: 32,
      perSecond: 600,
      addresses: [world.address()],
      request: () => ({
        path: '/trades',
        headers: { authorization: `Bearer tw_${bs58.encode(randomBytes(32))}` },
      }),
    })
    const tried = countSent(tally, 401)
    return judgeTally(
      tally,
      [401, 429],
      tried > 200 ? [`${tried} keys could be tried within a minute`] : [],
    )
  },
}

const logins: Burst = {
  name: 'logins',
  title: '1,000 logins with bad signatures, ten from each address',
  async run(world, scale) {
    const addresses = Array.from({ length: scaled(100, scale) }, () => world.address())
    const wallet = createWallet()
    const message = 'x'.repeat(10_000)
    const tally = await sendAtPace(world, {
      count: scaled(1000, scale),
      concurrency: 16,
      perSecond: 200,
      addresses,
      request: (n) => ({
        path: '/auth/login',
        method: 'POST',
        body: JSON.stringify({
          wallet: newAddress(n),
          message,
          signature: wallet.signText(message),
        }),
      }),
    })
    return judgeTally(tally, [401, 429])
  },
}

function newAddress(n: number): string {
  return bs58.encode(Buffer.alloc(32, `${n}`))
}

const documents: Burst = {
  name: 'documents',
  title: '1,500 requests for documents and pages, compressed',
  async run(world, scale) {
    const paths = [
      '/openapi.json',
      '/asyncapi.json',
      '/docs',
      '/docs/feed',
      '/dashboard',
      '/status',
    ]
    const tally = await sendAtPace(world, {
      count: scaled(1500, scale),
      concurrency: 16,
      perSecond: 150,
      addresses: [world.address()],
      request: (n) => ({
        path: paths[n % paths.length] ?? '',
        headers: { 'accept-encoding': n % 2 === 0 ? 'gzip' : 'br' },
      }),
    })
    return judgeTally(tally, [200])
  },
}

const nonces: Burst = {
  name: 'nonces',
  title: 'nonces from 3,000 networks /64 of one IPv6 /48, behind a proxy',
  env: { TRUSTED_PROXIES: '1' },
  async run(world, scale) {
    const honest = createWallet()
    const from = { headers: { 'x-forwarded-for': '2001:db8:ffff::1' } }
    const { message = '' } = await postJson(
      world.target,
      '/auth/nonce',
      { wallet: honest.address },
      from,
    )
    const tally = await sendAtPace(world, {
      count: scaled(3000, scale),
      concurrency: 16,
      perSecond: 600,
      addresses: [null],
      request: (n) => ({
        path: '/auth/nonce',
        method: 'POST',
        body: JSON.stringify({ wallet: createWallet().address }),
        headers: { 'x-forwarded-for': `2001:db8:1:${n.toString(16)}::1` },
      }),
    })
    const login = { wallet: honest.address, message, signature: honest.signText(message) }
    const { token } = await postJson(world.target, '/auth/login', login, from)
    const faults = token === undefined ? ['a customer could not log in with a nonce of before'] : []
    if (countSent(tally, 429) === 0) faults.push('the /48 has no budget')
    return judgeTally(tally, [200, 429], faults)
  },
}

/** Bursts that need no key. */
export const STRANGERS: readonly Burst[] = [
  ...[readers, upgrades, queries, readiness, paths, connections, keys, logins, documents, nonces],
]
