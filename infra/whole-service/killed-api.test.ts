import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import bs58 from 'bs58'
import { Customer, type CustomerAnswer, until } from './customer.ts'
import { type Deployment, deploy, WHY_NO_SERVERS } from './deployment.ts'
import { Follower } from './follower.ts'
import { freePort } from './free-port.ts'

/*
 * Kills (-9) the process that answers and charges, under load, again and again. Its customers count
 * what they received, and the ledger says what they paid. The two may differ only by what rule J5
 * allows.
 */

const KILLS = 3
const CALLERS = 16
const CREDITS = 1_000_000
/** Path and price. */
const CALLS = [
  ['/wallets/W1/metrics', 1],
  ['/trades?limit=25', 3],
  ['/wallets', 1],
  ['/tokens/held', 3],
] as const
/**
 * Maximum number of credits that a connection with a few trades per second reserves, also after it
 * caught up (`api/stream/credit-block.ts`).
 */
const BLOCK = 64
/**
 * Trades that were on their way when a connection ended; they are sent, and charged, again after a
 * resume: those of a slot or two.
 */
const ON_THE_WAY = 8
/**
 * The meter in memory dies with its process, and with it the usage of the last second and of the
 * write in progress, which takes up to two seconds while other tests want the same cores.
 */
const UNROLLED_MS = 3000
/** Calls before the first kill: several times as many as are answered in that time. */
const ANSWERS = 1500

for (const kind of ['embedded', 'servers'] as const) {
  const isSkipped = kind === 'servers' && WHY_NO_SERVERS !== ''
  const title = `${kind}: killed under load, a customer pays for what was answered, for nothing twice, and at most for what was under way (rules J5, K5)`
  const run = isSkipped ? test.skip : test.serial
  run(isSkipped ? `${title} (skipped: ${WHY_NO_SERVERS})` : title, async (t) => {
    const service = await deploy(kind, [], { PORT: String(await freePort()) })
    try {
      await killUnderLoad(t, service)
    } finally {
      await service.remove()
    }
  })
}

async function killUnderLoad(t: ExecutionContext, service: Deployment): Promise<void> {
  const role = service.kind === 'embedded' ? 'all' : 'api'
  service.startAll()
  const url = (await service.processes.get(role)?.line('url')) ?? ''
  const [calling, following] = [await createAccount(service), await createAccount(service)]
  const calls = new Calls(new Customer(url, calling.key))
  await until(
    () => calls.ask(1),
    (answer) => (answer?.body as { count?: number })?.count === 25,
  )
  const follower = new Follower(new Customer(url, following.key))
  const load = Array.from({ length: CALLERS }, () => calls.askWithoutPause())
  let lost = 0
  for (let kill = 0; kill < KILLS; kill++) {
    // Each kill comes at a different time between two roll-ups of usage.
    await calls.answers(ANSWERS + 150 * kill)
    await service.processes.get(role)?.kill()
    lost += calls.creditsSince(Date.now() - UNROLLED_MS)
    await service.start(role).line('url')
  }
  await calls.answers(200)
  calls.stop()
  await Promise.all(load)
  await follower.stop()
  t.is(await service.processes.get(role)?.stop(), 0)

  const usage = await service.operator(
    'sql',
    "SELECT wallet, toInt64(-sum(credits)) AS used FROM ledger_entries FINAL WHERE cause = 'usage' AND wallet > '!~' GROUP BY wallet",
  )
  const { items } = usage.document as { items: { wallet: string; used: string }[] } // rule J3
  const used = new Map(items.map((row) => [row.wallet, Number(row.used)]))
  const paid = used.get(calling.wallet) ?? 0
  const { answered, underWay } = calls
  const got = follower.all().length + follower.allLate().length
  const paidForFeed = used.get(following.wallet) ?? 0
  t.log(
    `${KILLS} kills. REST: answers for ${answered} credits, ${paid} charged (${paid - answered}); ${underWay} were under way` +
      `${service.kind === 'embedded' ? `, ${lost} answered just before` : ''}. Feed: ${got} trades in ${follower.connections} connections, ${paidForFeed} charged`,
  )
  const least = service.kind === 'embedded' ? answered - lost : answered
  t.true(paid >= least && paid <= answered + underWay, 'REST')
  const most = got + follower.connections * ON_THE_WAY
  t.true(paidForFeed >= got - KILLS * BLOCK && paidForFeed <= most, 'the feed')
  const { code, document } = await service.operator('ledger', 'check')
  t.deepEqual(document, { accounts: service.kind === 'embedded' ? 3 : 2, mismatches: [] })
  t.is(code, 0)
}

async function createAccount(service: Deployment) {
  const wallet = bs58.encode(randomBytes(32))
  const args = ['account', 'create', '--wallet', wallet, '--credits', String(CREDITS)]
  const { document } = await service.operator(...args)
  return { wallet, key: (document as { api_key: string }).api_key } // rule J3
}

/** Calls of one customer, with their prices. */
class Calls {
  /** Credits of calls that were answered with 2xx, as the responses said. */
  answered = 0
  /** Credits of calls that were sent and never answered. */
  underWay = 0
  readonly #customer: Customer
  readonly #answers: { readonly at: number; readonly cost: number }[] = []
  readonly #changed = new EventEmitter()
  #stopped = false

  constructor(customer: Customer) {
    this.#customer = customer
  }

  /** The response; undefined when the connection broke. */
  async ask(which: number): Promise<CustomerAnswer | undefined> {
    const [path, price] = CALLS[which % CALLS.length] ?? CALLS[0]
    try {
      const answer = await this.#customer.get(path)
      const cost = Number(answer.headers.get('x-credits-cost'))
      this.answered += cost
      this.#answers.push({ at: Date.now(), cost })
      this.#changed.emit('answer')
      return answer
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as { code?: string }
      if (code === 'ECONNREFUSED') await pause(50)
      else this.underWay += price
      return undefined
    }
  }

  async askWithoutPause(): Promise<void> {
    for (let which = 0; !this.#stopped; which++) await this.ask(which)
  }

  /** Resolves after `count` more responses. */
  async answers(count: number): Promise<void> {
    const enough = this.#answers.length + count
    while (this.#answers.length < enough) await once(this.#changed, 'answer')
  }

  creditsSince(time: number): number {
    return this.#answers.reduce((sum, { at, cost }) => sum + (at >= time ? cost : 0), 0)
  }

  stop(): void {
    this.#stopped = true
  }
}
