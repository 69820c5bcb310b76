import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { post, tokenOf } from '../../api/testing/a-wallet.ts'
import { ask } from '../../api/testing/ask.ts'
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

/** A chain that takes payments, and the environment that connects a service to it. */
async function startChain(t: ExecutionContext) {
  const folder = mkdtempSync(join(tmpdir(), 'customer-pays-'))
  const simulator = await startSimulator({
    wallets: 3,
    coins: 12,
    trackedPerSlot: 0.3,
    othersPerSlot: 0,
    // 200 s: on a busy machine a killed service takes long to come back to a payment.
    historySlots: 2000,
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
    const { folder, simulator, env } = await startChain(t)
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
    const api = { url: service.lines.find((line) => line.startsWith('url='))?.slice(4) ?? '' }
    const payer = await createPayer(simulator, 100_000_000n)
    const wallet = payer.address
    const { message } = (await post(api, '/auth/nonce', { wallet })).body
    const login = { wallet, message, signature: payer.signText(String(message)) }
    const token = String((await post(api, '/auth/login', login)).body.token)
    t.is((await post(api, '/auth/login', login)).status, 401)

    const first = await ask(api, '/me/api', token)
    const key = String(first.body.api_key)
    t.like(first.body, { wallet, balance_credits: 0 })
    t.is((await ask(api, '/me/api', token)).body.api_key, null)
    t.is((await ask(api, '/wallets', key)).status, 402)
    const customer = { api, payer, token, key }
    await paysForCalls(t, customer, simulator.paymentAddresses.credits)
    await buysPro(t, customer, simulator.paymentAddresses.pro)

    const next = String((await send(api, '/me/api/rotate', token)).body.api_key)
    t.deepEqual(
      [(await ask(api, '/wallets', key)).status, (await ask(api, '/wallets', next)).status],
      [401, 200],
    )
    t.is((await send(api, '/auth/logout', token)).status, 204)
    t.is((await ask(api, '/me/api', token)).status, 401)
  },
)

/** Posts without a body. */
const send = (api: { readonly url: string }, path: string, token: string) =>
  ask(api, path, token, { method: 'POST' })

interface PayingCustomer {
  readonly api: { readonly url: string }
  readonly payer: Payer
  readonly token: string
  readonly key: string
}

/** Pays for five calls, makes them until 402, and pays again. */
async function paysForCalls(
  t: ExecutionContext,
  { api, payer, token, key }: PayingCustomer,
  address: string,
): Promise<void> {
  const check = () => send(api, '/billing/credits/check', token)
  const credited = async (sum: number) => {
    const answer = await until(check, ({ body }) => body.credited !== 0)
    t.is(answer.body.credited, sum)
  }
  const paid = await payer.pay(address, 5_999n)
  await credited(5)
  t.like((await check()).body, { credited: 0, balance_credits: 5 })
  const calls = []
  for (let n = 0; n < 6; n++) calls.push((await ask(api, '/wallets', key)).status)
  t.deepEqual(calls, [200, 200, 200, 200, 200, 402])

  const more = await payer.pay(address, 10_000n)
  await credited(10)
  t.like(await ask(api, '/trades?limit=1', key), { status: 200 })
  t.is((await ask(api, '/me/api', token)).body.balance_credits, 7)
  const { items } = (await ask(api, '/billing/credits/topups', token)).body
  t.deepEqual(
    items.map(({ tx_signature, amount_usdt, credits }) => [tx_signature, amount_usdt, credits]),
    [
      [more, 0.01, 10],
      [paid, 0.005999, 5],
    ],
  )
}

/** Buys a trial of Pro, and sees its view. */
async function buysPro(
  t: ExecutionContext,
  { api, payer, token }: PayingCustomer,
  address: string,
): Promise<void> {
  const wallet = payer.address
  const check = () => send(api, '/billing/pro/check', token)
  t.like((await check()).body, { wallet, active: false })
  const view = () => ask(api, '/me/watchlists/trending', token)
  const refused = await view()
  t.deepEqual([refused.status, refused.body.code], [403, 'pro_required'])
  const [plan] = (await ask(api, '/billing/plans')).body.plans as { usdt: number }[]
  await payer.pay(address, BigInt((plan?.usdt ?? 0) * 1_000_000))
  const bought = await until(check, ({ body }) => body.active === true)
  t.like(bought.body, { wallet, plan: 'trial' })
  t.true(Math.abs(Number(bought.body.seconds_left) - 3 * 86_400) < 2)
  const shown = await view()
  t.is(shown.status, 200)
  t.true(Array.isArray(shown.body.items))
}

test.serial(
  'killed (-9) while payments are found and credited, each is credited once (rule J5)',
  async (t) => {
    const { folder, simulator, env } = await startChain(t)
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
    let api = { url: await service.line('url') }
    const customers: { readonly token: string; readonly sum: number }[] = []
    for (let sum = 1000; sum <= 12_000; sum += 1000) {
      const payer = await createPayer(simulator, 100_000_000n)
      customers.push({ token: await tokenOf(api, payer), sum })
      await payer.pay(simulator.paymentAddresses.credits, BigInt(sum) * 1000n)
    }
    const { slot } = simulator
    for (const wait of [30, 34, 60]) {
      await until(
        async () => simulator.slot,
        (now) => now > slot + wait,
      )
      // Payments are notified, found and written in different processes' lifetimes.
      const checks = customers.map(({ token }) =>
        send(api, '/billing/credits/check', token).catch(() => null),
      )
      await Promise.race(checks)
      await service.kill()
      await Promise.all(checks)
      service = start()
      api = { url: await service.line('url') }
    }
    for (const { token, sum } of customers) {
      const check = () => send(api, '/billing/credits/check', token)
      const answer = await until(check, ({ status }) => status === 200)
      t.is(answer.body.balance_credits, sum)
      t.like((await check()).body, { credited: 0, balance_credits: sum })
    }
  },
)
