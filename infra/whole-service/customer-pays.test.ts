import { createPrivateKey, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import bs58 from 'bs58'
import { loadConfig } from '../service/config.ts'
import { startService } from '../service/service.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { createPayer, type Payer } from '../simulator/testing/payer.ts'
import { until } from './customer.ts'
import { startProcess } from './service-process.ts'

/*
 * A customer's path with a key pair of its own, over a real chain of blocks and real signatures:
 * login, first key, deposit, calls until no credit is left, top-up, Pro and its view, rotation,
 * logout.
 */

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** A chain that takes payments, and the environment that connects a service to it. */
async function startChain(t: ExecutionContext) {
  const folder = mkdtempSync(join(tmpdir(), 'customer-pays-'))
  const simulator = await startSimulator({
    wallets: 3,
    coins: 12,
    trackedPerSlot: 0.3,
    othersPerSlot: 0,
    historySlots: 500,
    // Fast enough that payments are final after three seconds; blocks keep their times.
    clock: { kind: 'running', speed: 4 },
  })
  t.teardown(() => simulator.close())
  const walletsFile = join(folder, 'wallets.txt')
  writeFileSync(walletsFile, `${simulator.wallets.join('\n')}\n`)
  const { pro, credits } = simulator.paymentAddresses
  const env = {
    YELLOWSTONE_ENDPOINT: simulator.endpoint,
    SOLANA_RPC_URL: simulator.rpcUrl,
    WALLETS_FILE: walletsFile,
    SOL_PRICE_POOL: simulator.solPricePool,
    PAYMENT_ADDRESS_PRO: pro,
    PAYMENT_ADDRESS_CREDITS: credits,
  }
  return { folder, simulator, env }
}

test.serial(
  'a customer logs in, pays, calls until 402, tops up, buys Pro, rotates the key and logs out',
  async (t) => {
    t.timeout(300_000)
    const { folder, simulator, env } = await startChain(t)
    const { pro, credits } = simulator.paymentAddresses
    const service = await startService(
      loadConfig({
        ...env,
        DATA_DIR: folder,
        PORT: '0',
        METRICS_PORT: '0',
        LOG_LEVEL: 'silent',
      }),
    )
    t.teardown(async () => {
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    })
    const url = service.lines.find((line) => line.startsWith('url='))?.slice(4) ?? ''

    async function ask(method: 'GET' | 'POST', path: string, bearer = '', body?: object) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(bearer !== '' && { authorization: `Bearer ${bearer}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? {} : JSON.parse(text) } as Answer
    }

    const payer = await createPayer(simulator, 100_000_000n)
    const wallet = payer.address
    const { body: asked } = await ask('POST', '/auth/nonce', '', { wallet })
    const message = String(asked.message)
    const login = { wallet, message, signature: signText(payer, message) }
    const { body: session } = await ask('POST', '/auth/login', '', login)
    const token = String(session.token)
    t.is((await ask('POST', '/auth/login', '', login)).status, 401)

    const first = await ask('GET', '/me/api', token)
    const key = String(first.body.api_key)
    t.like(first.body, { wallet, balance_credits: 0 })
    t.is((await ask('GET', '/me/api', token)).body.api_key, null)
    t.is((await ask('GET', '/wallets', key)).status, 402)

    const check = () => ask('POST', '/billing/credits/check', token)
    const credited = async (sum: number) => {
      const answer = await until(check, (answer) => answer?.body.credited !== 0)
      t.is(answer?.body.credited, sum)
    }
    const paid = await payer.pay(credits, 5_999n)
    await credited(5)
    t.deepEqual((await check()).body, { credited: 0, balance_credits: 5 })
    const calls = []
    for (let n = 0; n < 6; n++) calls.push((await ask('GET', '/wallets', key)).status)
    t.deepEqual(calls, [200, 200, 200, 200, 200, 402])

    const more = await payer.pay(credits, 10_000n)
    await credited(10)
    t.like(await ask('GET', '/trades?limit=1', key), { status: 200 })
    t.like(await ask('GET', '/me/api', token), { status: 200, body: { balance_credits: 7 } })
    const { items } = (await ask('GET', '/billing/credits/topups', token)).body as {
      items: Record<string, unknown>[]
    }
    t.deepEqual(
      items.map(({ tx_signature, amount_usdt, credits }) => [tx_signature, amount_usdt, credits]),
      [
        [more, 0.01, 10],
        [paid, 0.005999, 5],
      ],
    )

    t.like((await ask('POST', '/billing/pro/check', token)).body, { wallet, active: false })
    const view = () => ask('GET', '/me/watchlists/trending', token)
    t.like(await view(), { status: 403, body: { code: 'pro_required' } })
    const price = (await ask('GET', '/billing/plans')).body.plans as { usdt: number }[]
    await payer.pay(pro, BigInt((price[0]?.usdt ?? 0) * 1_000_000))
    const bought = await until(
      () => ask('POST', '/billing/pro/check', token),
      (answer) => answer?.body.active === true,
    )
    t.like(bought?.body, { wallet, plan: 'trial' })
    t.true(Math.abs(Number(bought?.body.seconds_left) - 3 * 86_400) < 2)
    const shown = await view()
    t.is(shown.status, 200)
    t.true(Array.isArray(shown.body.items))

    const rotated = await ask('POST', '/me/api/rotate', token)
    const next = String(rotated.body.api_key)
    t.deepEqual(
      [(await ask('GET', '/wallets', key)).status, (await ask('GET', '/wallets', next)).status],
      [401, 200],
    )
    t.is((await ask('POST', '/auth/logout', token)).status, 204)
    t.is((await ask('GET', '/me/api', token)).status, 401)
  },
)

test.serial(
  'killed (-9) while payments are found and credited, each is credited once (rule J5)',
  async (t) => {
    t.timeout(300_000)
    const { folder, simulator, env } = await startChain(t)
    const { credits } = simulator.paymentAddresses
    const start = () =>
      startProcess('infra/service/main.js', {
        ...env,
        DATA_DIR: join(folder, 'data'),
        PORT: '0',
        METRICS_PORT: '0',
        LOG_LEVEL: 'warn',
        // The same for every process, so that tokens stay valid.
        PUBLIC_URL: 'http://service.example',
        LOGIN_RATE_LIMIT_PER_MINUTE: '0',
        DASHBOARD_RATE_LIMIT_PER_MINUTE: '0',
        DASHBOARD_CONCURRENT_REQUESTS: '0',
      })
    let service = start()
    t.teardown(async () => {
      await service.kill()
      rmSync(folder, { recursive: true, force: true })
    })
    let url = await service.line('url')
    const post = async (path: string, bearer: string, body?: object) => {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: {
          ...(bearer !== '' && { authorization: `Bearer ${bearer}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() } as Answer
    }
    const customers: { readonly token: string; readonly sum: number }[] = []
    for (let sum = 1000; sum <= 12_000; sum += 1000) {
      const payer = await createPayer(simulator, 100_000_000n)
      const wallet = payer.address
      const message = String((await post('/auth/nonce', '', { wallet })).body.message)
      const login = { wallet, message, signature: signText(payer, message) }
      const token = String((await post('/auth/login', '', login)).body.token)
      await payer.pay(credits, BigInt(sum) * 1000n)
      customers.push({ token, sum })
    }
    const { slot } = simulator
    for (const wait of [30, 34, 60]) {
      await until(
        async () => simulator.slot,
        (now) => now > slot + wait,
      )
      // Payments are notified, found and written in different processes' lifetimes.
      const checks = customers.map(({ token }) =>
        post('/billing/credits/check', token).catch(() => null),
      )
      await Promise.race(checks)
      await service.kill()
      await Promise.all(checks)
      service = start()
      url = await service.line('url')
    }
    for (const { token, sum } of customers) {
      const answer = await until(
        () => post('/billing/credits/check', token),
        ({ status }) => status === 200,
      )
      t.is(answer.body.balance_credits, sum)
      t.like(await post('/billing/credits/check', token), {
        body: { credited: 0, balance_credits: sum },
      })
    }
  },
)

function signText({ key }: Payer, text: string): string {
  const seed = key.secretKey.slice(0, 32)
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const secret = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  return bs58.encode(sign(null, Buffer.from(text), secret))
}
