import type { Duplex } from 'node:stream'
import yellowstone, {
  CommitmentLevel,
  type SubscribeRequest,
  type SubscribeUpdate,
  TokenAccountExpansionControlFlag,
} from '@triton-one/yellowstone-grpc'
import type { Simulator } from '../simulator.ts'

// The package's types describe its CommonJS build, where the class is the `default` of the
// namespace; Node loads its ES build.
const Client = yellowstone as unknown as typeof yellowstone.default
type Client = InstanceType<typeof Client>

/** A connected Yellowstone client. */
export async function connectYellowstone(
  simulator: Pick<Simulator, 'endpoint'>,
  xToken?: string,
): Promise<Client> {
  const client = new Client(simulator.endpoint, xToken, {
    grpcMaxDecodingMessageSize: 64 * 1_048_576,
    grpcTimeout: 120_000, // the default of 10 s is too short on a busy machine
  })
  await client.connect()
  return client
}

/** A request without any filter. */
export const EMPTY_REQUEST: SubscribeRequest = {
  accounts: {},
  slots: {},
  transactions: {},
  transactionsStatus: {},
  blocks: {},
  blocksMeta: {},
  entry: {},
  accountsDataSlice: [],
  commitment: CommitmentLevel.CONFIRMED,
}

/**
 * The service's own request: its wallets with their token accounts, confirmed slots, block metas
 * and the price account.
 */
export function followWallets(
  simulator: Pick<Simulator, 'wallets' | 'solPricePool'>,
): SubscribeRequest {
  return {
    ...EMPTY_REQUEST,
    accounts: { price: { account: [simulator.solPricePool], owner: [], filters: [] } },
    slots: { slots: { filterByCommitment: true } },
    blocksMeta: { metas: {} },
    transactions: {
      wallets: {
        vote: false,
        accountInclude: [...simulator.wallets],
        accountExclude: [],
        accountRequired: [],
        tokenAccounts: TokenAccountExpansionControlFlag.BALANCE_CHANGED,
      },
    },
  }
}

/** The updates of a stream so far. */
export interface Collected {
  readonly updates: SubscribeUpdate[]
  /** How the stream ended; null while it is open. */
  readonly ended: Promise<Error | null>
  /** Resolves with the first past or future update that the predicate accepts. */
  until(test: (update: SubscribeUpdate) => boolean): Promise<SubscribeUpdate>
  write(request: SubscribeRequest): void
  /** Resolves when the server has answered a ping that is sent now. */
  pong(): Promise<void>
  close(): void
}

/**
 * Collects the updates of a stream. Resolves when the server has answered a ping, so that no later
 * update is missed.
 */
export async function collect(stream: Duplex): Promise<Collected> {
  const updates: SubscribeUpdate[] = []
  const waiting = new Set<() => void>()
  let pings = 7_000
  stream.on('data', (update: SubscribeUpdate) => {
    updates.push(update)
    for (const look of waiting) look()
  })
  const ended = new Promise<Error | null>((resolve) => {
    stream.on('error', resolve)
    stream.on('close', () => resolve(null))
  })
  const collected: Collected = {
    updates,
    ended,
    until: (test) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = updates.find(test)
          if (found === undefined) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        ended.then((error) => reject(error ?? new Error('the stream ended')))
        look()
      }),
    write: (request) => stream.write(request),
    async pong() {
      pings += 1
      const id = pings
      stream.write({ ...EMPTY_REQUEST, ping: { id } })
      await collected.until((update) => update.pong?.id === id)
      const index = updates.findIndex((update) => update.pong?.id === id)
      updates.splice(index, 1)
    },
    close: () => stream.destroy(),
  }
  // A refused subscription ends before it answers.
  await Promise.race([collected.pong().catch(() => {}), ended])
  return collected
}

/** Calls an RPC method; returns the result, or the error's code and message. */
export async function callRpc(
  simulator: Pick<Simulator, 'rpcUrl'>,
  method: string,
  ...params: unknown[]
): Promise<unknown> {
  const response = await fetch(simulator.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  if (response.status === 429)
    return { status: 429, retryAfter: response.headers.get('retry-after') }
  const body = (await response.json()) as { result?: unknown; error?: unknown }
  return body.error === undefined ? body.result : { error: body.error }
}
