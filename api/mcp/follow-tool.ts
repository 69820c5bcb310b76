import { z } from 'zod'
import { parseAddress } from '../../pipeline/domain/address.ts'
import { parseAlias } from '../../pipeline/domain/alias.ts'
import type { KeyScope } from '../accounts/named-keys.ts'
import type { Credits } from '../credits/credits.ts'
import type { CursorCodec, FeedPosition } from '../cursor.ts'
import { ApiError } from '../errors.ts'
import { componentSchema } from '../items/component-schema.ts'
import { insufficient } from '../middleware/metering.ts'
import { type FeedKey, feedKeyOf } from '../middleware/upgrade.ts'
import { completeSchema } from '../openapi/json-schemas.ts'
import { trackedWallet } from '../resources/parameters.ts'
import type { Filter } from '../rows/filter.ts'
import type { Feed } from '../stream/feed.ts'
import { type FollowedTrades, firstPart } from '../stream/follow-trades.ts'
import { textOfFrame } from '../stream/frame.ts'
import { GapMessage, RetractedMessage, SubscribeMessage, TradeMessage } from '../stream/messages.ts'
import { type Arguments, type CallContext, readOnly, type Tool, type ToolAnswer } from './tool.ts'
import { unknownArgument } from './tool-arguments.ts'

/** Dependencies of the tool `follow_trades`. */
export interface FollowToolDeps {
  readonly feed: Pick<Feed, 'follow' | 'onFollowed'>
  readonly credits: Pick<Credits, 'left' | 'charge'>
  readonly cursors: CursorCodec
  /** How many wallets are tracked. */
  readonly walletCount: () => number
  readonly tokens: Parameters<typeof feedKeyOf>[1]
  /** Refuses a key without the scope. */
  requireScope(ctx: CallContext, scope: KeyScope): void
  /** Called with the credits of an answer. */
  onCharged(credits: number): void
}

const Input = z.strictObject({
  cursor: z
    .string()
    .optional()
    .describe(
      'The `cursor` of the previous result, or `head_cursor` of `list_trades`: messages after it. Without it: from now on',
    ),
  wallets: SubscribeMessage.shape.wallets,
  mints: SubscribeMessage.shape.mints,
  limit: z
    .int()
    .min(1)
    .max(100)
    .default(25)
    .describe('How many messages; more only where one block takes back more'),
  wait_seconds: z
    .number()
    .min(0)
    .max(25)
    .default(10)
    .describe('How long to wait for the first message'),
})

const Output = componentSchema('FollowedTrades', 'Messages of the feed after a cursor.', {
  count: z.int().min(0).describe('Number of items'),
  cursor: z.string().describe('Position after the last item; pass it to the next call'),
  has_more: z.boolean().describe('More may be there already: call again without a pause'),
  items: z
    .array(z.union([TradeMessage, RetractedMessage, GapMessage]))
    .describe('The messages of `GET /ws`, in its order'),
})

const TITLE = 'New trades after a cursor'

const DESCRIPTION = [
  'Waits for trades of the tracked wallets, and answers as soon as there are some.',
  'Pass the `cursor` of each result to the next call: every trade then comes exactly once, oldest first.',
  'A trade whose block never became final is withdrawn by an item of type `retracted` with its `trade_id`; its credit is given back.',
  'Without a new trade the list is empty, and the call is free. An account waits in one call at a time, beside its connections to the feed.',
  '\n\nCosts 1 credit a trade, as on the feed. Needs a key with the scope `feed`.',
].join(' ')

/**
 * Creates the tool `follow_trades` (rule M2). Trades are found first, then charged, then answered:
 * at most as many as the credits left pay for.
 */
export function followTool(deps: FollowToolDeps): Tool {
  const { properties = {} } = z.toJSONSchema(Input, { io: 'input' })
  return {
    declaration: {
      name: 'follow_trades',
      title: TITLE,
      description: DESCRIPTION,
      inputSchema: { type: 'object', properties: properties as never, additionalProperties: false },
      outputSchema: { ...completeSchema(Output), type: 'object' },
      annotations: readOnly(TITLE, false),
    },
    async run(ctx, given) {
      await ctx.state.limitsPassed
      deps.requireScope(ctx, 'feed')
      return follow(ctx, readInput(given, deps), deps)
    },
  }
}

interface FollowInput {
  readonly after: FeedPosition | null
  readonly filter: Filter
  readonly limit: number
  readonly waitMs: number
}

async function follow(
  ctx: CallContext,
  { after, filter, limit, waitMs }: FollowInput,
  deps: FollowToolDeps,
): Promise<ToolAnswer> {
  const { feed, credits, cursors, tokens } = deps
  const { key: found } = ctx.state
  if (found === undefined) throw new Error('authenticate comes before the tools')
  const key: FeedKey = feedKeyOf(found, tokens)
  const left = await credits.left(key.account)
  ctx.state.left = left
  if (left < 1) throw insufficient('A trade on the feed', 1, left)
  const gone = new AbortController()
  const onClose = () => gone.abort()
  ctx.res.once('close', onClose)
  try {
    const request = { key, filter, after, most: limit, waitMs, signal: gone.signal }
    const followed = await feed.follow(request)
    // Nobody reads the answer, so nothing is charged.
    const paid = gone.signal.aborted ? null : await pay(ctx, followed, after, deps)
    const { steps, end, hasMore } = paid ?? { ...followed, steps: [] }
    const trades = steps.filter(({ isCharged }) => isCharged).length
    const retracted = steps.flatMap(({ retracts }) => retracts ?? [])
    feed.onFollowed(key.account, trades, retracted)
    const items = steps.map(({ frame }) => (frame === null ? '' : textOfFrame(frame)))
    const cursor = cursors.encode('trades', end.key, end.late)
    return {
      text: `{"count":${items.length},"cursor":${JSON.stringify(cursor)},"has_more":${hasMore},"items":[${items.join(',')}]}`,
      cost: trades,
      left: ctx.state.left,
    }
  } finally {
    ctx.res.off('close', onClose)
  }
}

/** Charges what was found, or the first part of it that the credits left pay for. */
async function pay(
  ctx: CallContext,
  followed: FollowedTrades,
  from: FeedPosition | null,
  { credits, onCharged }: FollowToolDeps,
): Promise<FollowedTrades> {
  const { account = '', requestId } = ctx.state
  let part = followed
  for (;;) {
    const trades = part.steps.filter(({ isCharged }) => isCharged).length
    if (trades === 0 && part.steps.length === 0 && followed.steps.length > 0)
      throw insufficient('A trade on the feed', 1, ctx.state.left ?? 0)
    if (trades === 0) return part
    const { kind, left } = await credits.charge(account, trades, requestId)
    ctx.state.left = left
    if (kind === 'charged') {
      ctx.state.cost = trades
      onCharged(trades)
      return part
    }
    part = firstPart(part, Math.min(left, trades - 1), from ?? followed.end)
  }
}

function readInput(given: Arguments, deps: FollowToolDeps): FollowInput {
  const names = Object.keys(Input.shape)
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
  const unknown = Object.keys(present).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new ApiError('invalid_parameter', { errors: [unknownArgument(unknown, names)] })
  const input = Input.safeParse(present)
  if (!input.success)
    throw new ApiError('invalid_parameter', {
      errors: input.error.issues.map(({ path: [name], message }) => ({
        in: 'body',
        name: String(name),
        message,
      })),
    })
  const { cursor, wallets, mints, limit, wait_seconds } = input.data
  if (mints?.some((mint) => parseAddress(mint) === null)) throw refused('mints', 'token addresses')
  for (const alias of wallets ?? []) trackedWallet(alias, deps.walletCount())
  const after = cursor === undefined ? null : deps.cursors.decodePosition(cursor)
  if (cursor !== undefined && after === null)
    throw new ApiError('invalid_cursor', {
      errors: [{ in: 'body', name: 'cursor', message: 'expected the cursor of a result' }],
    })
  return {
    after,
    filter: {
      wallets: wallets === undefined ? null : new Set(wallets.map((one) => parseAlias(one) ?? 0)),
      mints: mints === undefined ? null : new Set(mints),
    },
    limit,
    waitMs: wait_seconds * 1000,
  }
}

function refused(name: string, expected: string): ApiError {
  return new ApiError('invalid_parameter', {
    errors: [{ in: 'body', name, message: `expected a list of 1 to 100 ${expected}` }],
  })
}
