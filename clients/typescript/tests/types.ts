/* What a customer's program compiles, strictly and with all checks of declarations. */

import {
  FeedEnded,
  type Followed,
  Refused,
  readDelivery,
  TrackedWallets,
} from 'tracked-wallets-client'

const service = new TrackedWallets({ url: '', apiKey: '' })
const { items } = await service.trades({ limit: 1 })
export const solAmount: number | undefined = items[0]?.sol_amount
// @ts-expect-error: answers have their fields and no others
export const nothing = items[0]?.nothing
// @ts-expect-error: not a side
export const readRefusal = service.trades({ side: 'hold' })
export const follow = async function* (): AsyncGenerator<Followed> {
  yield* service.follow({ wallets: ['W1'] })
}
export const isOver = (error: unknown) =>
  (error instanceof FeedEnded && error.code === 'superseded') ||
  (error instanceof Refused && error.code === 'insufficient_credits')
const { messages } = await readDelivery('', new Headers(), '')
export const withdrawn = messages.flatMap((one) =>
  one.kind === 'retracted' ? one.trade.wallet : [],
)
export const ofNode = readDelivery('', { 'webhook-id': ['a'], host: undefined }, '')
