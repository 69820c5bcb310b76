import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Followed } from '../../api/client/follow.ts'
import { readDelivery } from '../../api/client/read-delivery.ts'
import { post, type TestWallet, tokenOf } from '../../api/testing/a-wallet.ts'
import { ask } from '../../api/testing/ask.ts'
import { createRandom } from '../simulator/random.ts'
import { until } from '../whole-service/customer.ts'
import { DeliveryOrder } from './delivery-order.ts'
import { type ReceivedTrades, receivedOf } from './followed.ts'

/** How a receiver behaves: `flaky` fails, hangs up and answers twice; `slow` takes its time. */
export const MANNERS = ['flaky', 'slow'] as const
type Manner = (typeof MANNERS)[number]

/** How long a slow receiver takes to answer. */
const SLOW_MS = 400
/** Of so many deliveries, a flaky receiver treats one in each bad way. */
const FLAKY_ONE_IN = 12

/** A receiver of a webhook of all trades, which keeps each message once (rule M1). */
export class HookReceiver {
  readonly manner: Manner
  readonly #delivered = new DeliveryOrder<Exclude<Followed, { kind: 'gap' }>>()
  /** Faults of deliveries. */
  readonly faults: string[] = []
  #url = ''
  #secret = ''
  #close: () => Promise<void> = async () => {}

  constructor(manner: Manner) {
    this.manner = manner
  }

  /** Listens on a free port. `seed`: of which deliveries a flaky receiver treats badly. */
  async listen(seed: number): Promise<void> {
    const random = createRandom(seed, `receiver ${this.manner}`)
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const bad = this.manner === 'flaky' ? random.below(FLAKY_ONE_IN) : -1
      if (bad === 0) return void request.socket.destroy()
      if (bad === 1) return void response.writeHead(500).end()
      if (this.manner === 'slow') await pause(SLOW_MS)
      const isRead = await this.#read(String(Buffer.concat(chunks)), request.headers)
      // What was read comes again, because the service does not know it.
      if (bad === 2) request.socket.destroy()
      else response.writeHead(isRead ? 204 : 400).end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    this.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    this.#close = async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }

  async close(): Promise<void> {
    await this.#close()
  }

  /**
   * Creates the webhook by the API, for a wallet with an account. Resolves when it has a position,
   * from which on it misses nothing.
   */
  async subscribe(api: { readonly url: string }, token: string): Promise<void> {
    const { status, body } = await post(api, '/me/webhooks', { url: this.#url }, token)
    if (status !== 201) throw new Error(`POST /me/webhooks: ${status} ${JSON.stringify(body)}`)
    this.#secret = String(body.secret)
    await until(
      async () => (await ask(api, '/me/webhooks', token)).body.items,
      (items) => items.some(({ id, cursor }) => id === body.id && cursor !== null),
    )
  }

  /** Trades in the order of the deliveries, each once, without those that were withdrawn. */
  received(): ReceivedTrades {
    return receivedOf(this.#delivered.messages)
  }

  /** How many different trades came, withdrawn ones too. */
  get trades(): number {
    return this.#delivered.messages.filter(({ kind }) => kind === 'trade').length
  }

  async #read(
    body: string,
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  ): Promise<boolean> {
    try {
      // The clock of a process may be wrong.
      const now = () => Number(headers['webhook-timestamp']) * 1000
      const { messages } = await readDelivery(body, headers, this.#secret, { now })
      for (const message of messages)
        if (message.kind === 'gap') this.faults.push('a webhook has a gap')
        else if ('tradeId' in message)
          this.#delivered.add(`${message.kind} ${message.tradeId}`, message)
      return true
    } catch (error) {
      this.faults.push(`a delivery is not right: ${error instanceof Error ? error.message : ''}`)
      return false
    }
  }
}

/** Receivers of the webhooks of one account. */
export interface HookReceivers {
  readonly receivers: readonly HookReceiver[]
  /** Credits that the account has paid. */
  paid(): Promise<number>
  close(): Promise<void>
}

/**
 * Starts a receiver of each manner, and creates its webhook for a wallet whose account has
 * `credits`.
 */
export async function startHookReceivers(
  api: { readonly url: string },
  wallet: TestWallet,
  { seed, credits }: { readonly seed: number; readonly credits: number },
): Promise<HookReceivers> {
  const token = await tokenOf(api, wallet)
  const receivers = MANNERS.map((manner) => new HookReceiver(manner))
  for (const receiver of receivers) {
    await receiver.listen(seed)
    await receiver.subscribe(api, token)
  }
  return {
    receivers,
    async paid() {
      const { body } = await ask(api, '/me/api', token)
      return credits - Number(body.balance_credits) - Number(body.reserved_credits)
    },
    async close() {
      await Promise.all(receivers.map((receiver) => receiver.close()))
    },
  }
}
