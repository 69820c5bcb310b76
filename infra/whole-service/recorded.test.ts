import test, { type ExecutionContext } from 'ava'
import type { Role } from '../../pipeline/config.ts'
import { type ContractTrade, type Customer, until } from './customer.ts'
import { type Deployment, deploy, WHY_NO_SERVERS } from './deployment.ts'
import { BLOCK_FILES, recordedTruth } from './recorded-blocks.ts'
import { type ServiceProcess, startProcess } from './service-process.ts'

/*
 * Real mainnet blocks pass from a Yellowstone stream to REST answers and sockets. The result must
 * equal what direct decoding gives, whatever process is killed and however badly the stream
 * behaves.
 */

const truth = BLOCK_FILES === null ? null : recordedTruth(BLOCK_FILES)

/** The trades that a customer must see at the end, newest first as REST lists them. */
const expected = truth === null ? [] : [...truth.trades].reverse()

/** `/wallets` at the end of the first journey, which has no trouble. */
let undisturbed: unknown = null

const CREDITS = 100_000

/** A service that runs while the blocks are played. */
interface Run {
  readonly t: ExecutionContext
  readonly deployment: Deployment
  readonly chain: ServiceProcess
  readonly key: string
}

interface Journey {
  readonly title: string
  readonly kind: Deployment['kind']
  /** Options of the simulator that plays the blocks in a separate process. */
  readonly simulator: readonly string[]
  /** Actions and checks while the blocks play; returns the credits spent. */
  play(run: Run): Promise<Spending>
}

/** Minimum and maximum number of credits spent. */
interface Spending {
  readonly least: number
  readonly most: number
}

function journey({ title, kind, simulator, play }: Journey): void {
  const why = kind === 'servers' && WHY_NO_SERVERS !== '' ? WHY_NO_SERVERS : ''
  if (BLOCK_FILES === null || truth === null || why !== '') {
    test.skip(`${kind} (${why === '' ? 'the corpus is absent' : why}): ${title}`, () => {})
    return
  }
  const blocks = BLOCK_FILES.flatMap((file) => ['--blocks', file])
  test.serial(`${kind}: ${title}`, async (t) => {
    const chain = startProcess('infra/simulator/main.js', {}, [...blocks, ...simulator])
    const deployment = await deploy(kind, truth.wallets, {
      YELLOWSTONE_ENDPOINT: await chain.line('YELLOWSTONE_ENDPOINT'),
      SOLANA_RPC_URL: await chain.line('SOLANA_RPC_URL'),
      SOL_PRICE_POOL: await chain.line('SOL_PRICE_POOL'),
    })
    t.teardown(async () => {
      await deployment.remove()
      await chain.kill()
    })
    const key = await deployment.createAccount(CREDITS)
    deployment.startAll()
    const spent = await play({ t, deployment, chain, key })
    await seesEverything({ t, deployment, chain, key }, spent)
  })
}

/**
 * Checks the end of each journey: trades, metrics and credits are exact, every process stops
 * cleanly, and the books agree.
 */
async function seesEverything({ t, deployment, key }: Run, spent: Spending): Promise<void> {
  const customer = await deployment.customer(key)
  await until(
    () => blockTime(customer),
    (time) => time >= (truth?.lastBlockTime ?? 0) + LATE_SECONDS,
  )
  const { trades, calls } = await customer.walkTrades(7)
  t.deepEqual(trades, expected)
  const wallets = await walkWallets(customer)
  undisturbed ??= wallets.items
  t.deepEqual(wallets.items, undisturbed)
  const { headers } = await customer.get('/wallets')
  const gone = CREDITS - Number(headers.get('x-credits-remaining')) - 3 * calls - wallets.calls - 1
  t.true(
    spent.least <= gone && gone <= spent.most,
    `${gone} credits went, ${spent.least} to ${spent.most} were used`,
  )
  for (const [name, process] of deployment.processes) {
    t.is(await process.stop(), 0, `${name} stops cleanly\n${process.stderr()}`)
  }
  const ledger = await deployment.operator('ledger', 'check')
  t.deepEqual(ledger, { code: 0, document: { accounts: 1, mismatches: [] } })
}

/**
 * The block time up to which everything is stored; 0 before the first slot and while the API does
 * not answer.
 */
async function blockTime(customer: Customer): Promise<number> {
  const answer = await customer.get<{ storage: { block_time: number | null } }>('/status')
  return answer.body.storage.block_time ?? 0
}

/** Every wallet with its metrics, without the times at which they were computed. */
async function walkWallets(customer: Customer) {
  const items: object[] = []
  for (let page = 1; ; page++) {
    const { body } = await customer.get<{ items: object[]; has_more: boolean }>(
      `/wallets?page=${page}`,
    )
    items.push(...body.items.map((item) => ({ ...item, computed_at: null })))
    if (!body.has_more) return { items, calls: page }
  }
}

/** Follows the socket to the last trade, and compares the trades. */
async function followToTheEnd({ t, deployment, key }: Run): Promise<Spending> {
  const feed = await (await deployment.customer(key)).follow()
  await feed.received(expected.length)
  const came: readonly ContractTrade[] = feed.trades
  t.deepEqual(came, truth?.trades)
  feed.close()
  return { least: expected.length, most: expected.length }
}

/**
 * Kills each process in turn in the middle of the blocks and starts it again, while a customer
 * calls without pause. Credits are spent for answered calls, and at most for calls that a kill cut
 * off (rule J5).
 */
async function killEach(run: Run, roles: readonly (Role | 'all')[]): Promise<Spending> {
  const { deployment, key } = run
  const caller = callWithoutPause(run)
  for (const role of roles) {
    const seen = await storedSlots(deployment, key)
    await until(
      () => storedSlots(deployment, key),
      (slots) => slots >= seen + 4,
    )
    await deployment.processes.get(role)?.kill()
    caller.killed(role)
    await deployment.start(role)
  }
  return caller.stop()
}

/** The newest stored slot; polls when the API has just been started. */
async function storedSlots(deployment: Deployment, key: string): Promise<number> {
  const customer = await deployment.customer(key)
  const answer = await customer.get<{ storage: { slot: number | null } }>('/status')
  return answer.body.storage.slot ?? 0
}

function callWithoutPause({ deployment, key }: Run) {
  let least = 0
  let most = 0
  let stopped = false
  /**
   * When each answered call of the last second was answered: usage that dies with a meter in memory
   * (rule J5).
   */
  let lately: number[] = []
  const calling = (async () => {
    while (!stopped) {
      const customer = await deployment.customer(key)
      const status = await customer.get('/wallets/W1/metrics').then(
        (answer) => answer.status,
        () => null,
      )
      if (status === 200) {
        least++
        lately.push(Date.now())
      }
      if (status === 200 || status === null) most++
      lately = lately.filter((at) => at > Date.now() - 1500)
    }
  })()
  return {
    killed(role: Role | 'all') {
      if (role === 'all') least -= lately.length
    },
    async stop(): Promise<Spending> {
      stopped = true
      await calling
      return { least, most }
    },
  }
}

/** Maximum seconds of block time by which the simulator sends a transaction late. */
const LATE_SECONDS = 6

const LEAD_IN = ['--lead-in', '12']
const SLOWLY = [...LEAD_IN, '--split', '12']

for (const kind of ['embedded', 'servers'] as const) {
  journey({
    title:
      'two recorded blocks give exactly the trades that decoding them gives, to REST and to the socket',
    kind,
    simulator: LEAD_IN,
    play: followToTheEnd,
  })
  journey({
    title: 'nothing changes when the stream has every trouble there is',
    kind,
    simulator: [...LEAD_IN, '--split', '5', '--speed', '3', '--trouble', 'all'],
    play: async () => ({ least: 0, most: 0 }),
  })
  journey({
    title: 'nothing changes when each process is killed in the middle and started again',
    kind,
    simulator: SLOWLY,
    play: (run) => killEach(run, kind === 'embedded' ? ['all'] : ['ingest', 'workers', 'api']),
  })
}
