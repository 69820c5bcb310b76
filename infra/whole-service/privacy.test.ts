import { once } from 'node:events'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import WebSocket from 'ws'
import { newWallet, tokenOf } from '../../api/testing/a-wallet.ts'
import { type ContractTrade, type Customer, until } from './customer.ts'
import { type Deployment, deploy } from './deployment.ts'
import { freePort } from './free-port.ts'
import {
  type AskOperator,
  readAnalystRows,
  readSwapLines,
  readTrueFigures,
  tellingFigures,
  tradeLine,
  walletTimes,
} from './true-figures.ts'

/*
 * No output of the service names a wallet, and with PRIVACY_SALT all channels give the same figures
 * (rules I1, I2, I2a).
 */

/** The secret in a file of secrets. */
function secretOf(text: string): string {
  return /"d":"([^"]+)"/.exec(text)?.[1] ?? text.trim()
}

interface Served {
  readonly block_time: number
  readonly side: 'buy' | 'sell'
  readonly base_amount: string
  readonly quote_mint: string
  readonly wallet: string
}

test('no answer, header, message, error, metric or log line of a run names a tracked wallet, a signature or the slot of a trade, or holds a key or a token; what is served is perturbed alike everywhere, and no amount, time, balance or sum is exact, nor is one that an analyst sees', async (t) => {
  const metricsPort = await freePort()
  const salt = 'a salt of this test'
  const service = await deploy('embedded', [], {
    METRICS_PORT: String(metricsPort),
    PRIVACY_SALT: salt,
  })
  t.teardown(() => service.remove())
  const process = service.start('all')
  const url = await process.line('url')
  const customer = await service.customer(await process.line('api_key'))
  const key = process.lines.get('api_key') ?? ''

  await until(
    () => fetch(`${url}/readyz`),
    ({ ok }) => ok,
  )
  const heard: string[] = []
  const trades = await hearFeed({ url, key, heard }, customer)
  // A customer logs in; secrets shown to the customer alone must appear nowhere else.
  const own = newWallet()
  const token = await tokenOf({ url }, own)
  const withToken = { headers: { authorization: `Bearer ${token}` } }
  const shown = async (path: string, method: string) => {
    const response = await fetch(`${url}${path}`, { ...withToken, method })
    return ((await response.json()) as { api_key: string }).api_key
  }
  const secrets = [token, await shown('/me/api', 'GET'), await shown('/me/api/rotate', 'POST')]
  const positions = await hearApi({ url, key, heard }, token, trades[0])
  for (const path of ['/metrics', '/healthz', '/readyz'])
    positions.push(await (await fetch(`http://127.0.0.1:${metricsPort}${path}`)).text())
  await agreesWithSums(t, customer, String(trades[0]?.mint))

  t.is((await fetch(`${url}/auth/logout`, { ...withToken, method: 'POST' })).status, 204)
  t.is((await fetch(`${url}/me/api`, withToken)).status, 401)
  secrets.push(...(await secretsIn(t, service.env.DATA_DIR ?? '')))
  const { document: told } = await service.operator('wallets')
  const wallets = (told as { items: { address: string }[] }).items.map(({ address }) => address)
  await searchesAlike(t, { url, key, heard }, wallets)
  const askOperator = operatorOf(service)
  const events = await askOperator<{ signature: string; slot: string }>(EVENTS)
  await servesNoTrueFigure(t, askOperator, { trades, heard, salt })
  t.is(await process.stop(), 0)
  heard.push(process.stderr(), process.stdout())

  t.true(wallets.length >= 25)
  t.true(events.length >= trades.length)
  const outside = heard.join('\n')
  const everything = `${outside}\n${positions.join('\n')}`
  const named = [...wallets, ...events.map(({ signature }) => signature), salt, ...secrets]
  t.deepEqual(
    named.filter((text) => everything.includes(text)),
    [],
  )
  const slots = new Set(events.map(({ slot }) => slot))
  const numbers = new Set(outside.match(/(?<![\w.])\d{9,10}(?![\w.])/g))
  t.deepEqual(
    [...numbers].filter((number) => slots.has(number)),
    [],
  )
})

function operatorOf(service: Deployment): AskOperator {
  return async <T>(sql: string) => {
    const { document } = await service.operator('sql', sql)
    return (document as { items: T[] }).items // rule J3
  }
}

const EVENTS = `SELECT signature, toString(slot) AS slot FROM swaps
  UNION ALL SELECT signature, toString(slot) FROM transfers UNION ALL SELECT signature, toString(slot) FROM sol_transfers`

/** The secrets in files of the service, which only its user may read. */
async function secretsIn(t: ExecutionContext, folder: string): Promise<string[]> {
  const secrets: string[] = []
  for (const file of ['secret-key', 'jwt-keys.json', 'demo-api-key']) {
    const path = join(folder, file)
    t.is((await stat(path)).mode & 0o777, 0o600, file)
    if (file !== 'demo-api-key') secrets.push(secretOf(await readFile(path, 'utf8')))
  }
  return secrets
}

/** URL of the service, and all texts that an outsider has read from it. */
interface Outside {
  readonly url: string
  readonly key: string
  readonly heard: string[]
}

/** Follows the feed, also with invalid messages. Returns the trades of REST. */
async function hearFeed({ url, key, heard }: Outside, customer: Customer) {
  const headers = { authorization: `Bearer ${key}` }
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers })
  socket.on('message', (message) => heard.push(String(message)))
  socket.on('upgrade', (response) => heard.push(JSON.stringify(response.headers)))
  await once(socket, 'open')
  for (const message of [
    '{"action":"subscribe","channels":["trades"]}',
    '{"action":"subscribe","channels":["trades"],"after":"x"}',
    '{"action":"subscribe","channels":["trades"],"wallets":["W999"]}',
    '{"action":"ping"}',
  ])
    socket.send(message)
  const { trades } = await until(
    () => customer.walkTrades(),
    ({ trades }) => trades.length >= 60,
  )
  socket.close()
  return trades
}

/**
 * Asks for every path with a key, a token and neither, and with bad values. Returns the bodies of
 * /status: like the gauges, these show slots of the chain, which do not depend on who trades.
 */
async function hearApi(
  { url, key, heard }: Outside,
  token: string,
  trade: ContractTrade | undefined,
): Promise<string[]> {
  const positions: string[] = []
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, init)
    const text = await response.text()
    heard.push(JSON.stringify([...response.headers]))
    if (path.startsWith('/status')) positions.push(text)
    else heard.push(text)
    return text
  }
  const withKey = { headers: { authorization: `Bearer ${key}` } }
  const withToken = { headers: { authorization: `Bearer ${token}` } }
  const document = JSON.parse(await ask('/openapi.json')) as { paths: Record<string, unknown> }
  for (const path of [...Object.keys(document.paths), '/asyncapi.json', '/docs', '/nothing']) {
    const target = path
      .replace('{mint}', String(trade?.mint))
      .replace('{alias}', String(trade?.wallet))
      .replace('{id}', 'an-id')
    await ask(target, withKey)
    await ask(target)
    await ask(target, { ...withKey, method: 'POST', body: '{}' })
    if (!path.startsWith('/auth/logout')) {
      await ask(target, withToken)
      if (path !== '/me/api/rotate') await ask(target, { ...withToken, method: 'POST' })
    }
    for (const bad of ['limit=x', 'cursor=x', 'page=0', 'alias=W999'])
      await ask(`${target}?${bad}`, withKey)
  }
  return positions
}

/** A search for the address of a tracked wallet is answered like one for any other address. */
async function searchesAlike(
  t: ExecutionContext,
  { url, key, heard }: Outside,
  wallets: readonly string[],
): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  const found = async (text: string) => {
    const answer = await fetch(`${url}/search?q=${text}`, { headers })
    const names = [...answer.headers.keys()].sort()
    return { status: answer.status, names, body: await answer.text() }
  }
  const other = await found(newWallet().address)
  t.deepEqual([other.status, other.body], [200, '{"items":[]}'])
  for (const wallet of wallets.slice(0, 5)) t.deepEqual(await found(wallet), other)
  heard.push((await found('W1')).body, (await found('a')).body)
}

/**
 * Both ways of serving a token agree: its swaps, and their sums. The comparison is repeated until
 * both were read from the same stored swaps.
 */
async function agreesWithSums(
  t: ExecutionContext,
  customer: Customer,
  mint: string,
): Promise<void> {
  const sums = async () => {
    const { body: swaps } = await customer.get<{ items: Served[] }>(
      `/tokens/${mint}/swaps?limit=200`,
    )
    const { body: all } = await customer.get<{ wallets: Record<string, unknown>[] }>(
      `/tokens/${mint}/wallet-aggregates`,
    )
    const bought = (wallet: unknown) =>
      swaps.items
        .filter((swap) => swap.wallet === wallet && swap.side === 'buy')
        .reduce((sum, swap) => sum + BigInt(swap.base_amount), 0n)
    return all.wallets.map((one) => [one.wallet, String(bought(one.wallet)), one.base_bought])
  }
  const settled = await until(sums, (found) =>
    found.every(([, summed, aggregate]) => summed === aggregate),
  )
  t.true(settled.length > 0)
}

/** Checks that served figures are the perturbed ones, and that no true figure is served. */
async function servesNoTrueFigure(
  t: ExecutionContext,
  askOperator: AskOperator,
  told: {
    readonly trades: readonly ContractTrade[]
    readonly heard: readonly string[]
    readonly salt: string
  },
): Promise<void> {
  const { trades, heard, salt } = told
  const { due, seen, times } = await readSwapLines(askOperator, salt)
  const served = trades.map((trade) =>
    tradeLine({
      ...trade,
      time: trade.block_time,
      amount: trade.token_amount,
      quote: trade.quote_amount,
    }),
  )
  t.deepEqual(
    [...served, ...seen].filter((line) => !due.has(line)),
    [],
  )
  const heardTimes = walletTimes(heard)
  t.true(heardTimes.filter((time) => times.served.has(time)).length > 100)
  t.deepEqual(
    heardTimes.filter((time) => times.happened.has(time) && !times.served.has(time)),
    [],
  )
  const analystRows = await readAnalystRows(askOperator)
  const trueFigures = await readTrueFigures(askOperator)
  t.true(trueFigures.size > 100)
  t.true(tellingFigures(analystRows).length > 100)
  t.deepEqual(
    tellingFigures(`${heard.join('\n')}\n${analystRows}`).filter((figure) =>
      trueFigures.has(figure),
    ),
    [],
  )
}
