import { z } from 'zod'
import type { Store } from '../../pipeline/store/store.ts'
import { requireActivePro } from '../billing/active-pro.ts'
import type { Billing } from '../billing/billing.ts'
import type { Credits } from '../credits/credits.ts'
import { ApiError } from '../errors.ts'
import { componentSchema } from '../items/component-schema.ts'
import {
  changedWebhook,
  DeliveryItem,
  deliveryItem,
  newWebhook,
  WebhookItem,
  webhookItem,
} from '../items/webhook.ts'
import type { StoragePosition } from '../storage-position.ts'
import { readAttempts } from '../webhooks/deliveries.ts'
import { readHookProgress } from '../webhooks/hook-progress.ts'
import type { WebhookSecrets } from '../webhooks/signature.ts'
import type { HookChannel, StoredWebhook, WebhookChange, Webhooks } from '../webhooks/webhooks.ts'
import type { AccountDeps } from './api-account.ts'
import { trackedWallet } from './parameters.ts'
import { dashboardResource } from './resource.ts'

/** Dependencies of the resources of webhooks. */
export interface WebhookDeps extends Pick<AccountDeps, 'events'> {
  readonly store: Store
  readonly webhooks: Webhooks
  readonly hookSecrets: Pick<WebhookSecrets, 'secretOf'>
  readonly credits: Pick<Credits, 'left'>
  /** Whether text is a position of a channel. */
  readonly isPosition: (channel: HookChannel, text: string) => boolean
  readonly position: Pick<StoragePosition, 'walletCount'>
  readonly billing: Pick<Billing, 'pro'> | null
  /** Whether receivers may be on this machine (`WEBHOOK_LOOPBACK`). */
  readonly webhookLoopback: boolean
}

const params = z.object({ id: z.string().meta({ description: 'The `id` of the webhook' }) })
const WebhookAnswer = componentSchema('WebhookAnswer', 'A webhook.', WebhookItem.shape)

/** All resources of webhooks (rule M1). */
export function webhookResources(deps: WebhookDeps) {
  return [
    meWebhooks(deps),
    createWebhook(deps),
    changeWebhook(deps),
    deleteWebhook(deps),
    rotateSecret(deps),
    replayWebhook(deps),
    testWebhook(deps),
    webhookDeliveries(deps),
  ] as const
}

function meWebhooks({ store, webhooks }: WebhookDeps) {
  return dashboardResource({
    path: '/me/webhooks',
    docs: {
      tag: 'Account',
      summary: 'The webhooks of the account',
      description:
        'Places to which the service posts messages of the feed, oldest first, with how far each has got and why it waits.',
      example: { items: [EXAMPLE] },
    },
    answer: componentSchema('WebhooksAnswer', 'The webhooks of an account.', {
      items: z.array(WebhookItem).describe('Oldest first'),
    }),
    async handle(_input, { wallet }) {
      const hooks = await webhooks.list(wallet)
      const progress = await readHookProgress(
        store,
        hooks.map(({ id }) => id),
      )
      return { body: { items: hooks.map((hook) => webhookItem(hook, progress.get(hook.id))) } }
    },
  })
}

function createWebhook(deps: WebhookDeps) {
  const { webhooks, hookSecrets, events } = deps
  return dashboardResource({
    path: '/me/webhooks',
    method: 'POST',
    docs: {
      tag: 'Account',
      summary: 'Create a webhook',
      description:
        'Posts each trade to a URL of yours, signed by the Standard Webhooks specification, in order and at least once: know a trade again by its `trade_id`. 1 credit a trade, once, whatever is delivered again. An account without credits gets none, and any has at most 10. Only this answer and that of a rotation have the secret.',
      problems: [
        'insufficient_credits',
        'too_many_webhooks',
        'invalid_cursor',
        'pro_required',
        'wallet_not_found',
      ],
      statuses: [201],
      requestExample: { url: 'https://bot.example/trades', wallets: ['W1', 'W12'] },
      example: { ...EXAMPLE, secret: EXAMPLE_SECRET },
    },
    requestBody: newWebhook(deps.webhookLoopback),
    answer: NewSecretAnswer,
    async handle({ body }, { wallet }, network) {
      const { url, channel, after } = body
      if (after !== null) requireCursor(channel, after, 'after', deps)
      const filter = filterOf(channel, body, deps)
      if (channel === 'trades') await requireCredits(deps, wallet)
      else await requireActivePro(deps.billing, wallet)
      const hook = await webhooks.create(wallet, { url, channel, after: after ?? '', ...filter })
      if (hook === null) throw new ApiError('too_many_webhooks')
      events.add(wallet, 'webhook_created', network)
      return {
        status: 201,
        body: { ...webhookItem(hook, undefined), secret: hookSecrets.secretOf(hook) },
      }
    },
  })
}

function changeWebhook(deps: WebhookDeps) {
  return dashboardResource({
    path: '/me/webhooks/:id',
    method: 'PATCH',
    docs: {
      tag: 'Account',
      summary: 'Change, pause or resume a webhook',
      description:
        'What is absent stays as it is. In force within two seconds. A changed filter holds from the position on that the webhook has then; replaying what is older costs again.',
      problems: ['webhook_not_found', 'wallet_not_found'],
      requestExample: { status: 'paused' },
      example: { ...EXAMPLE, status: 'paused' },
    },
    params,
    requestBody: changedWebhook(deps.webhookLoopback),
    answer: WebhookAnswer,
    async handle({ params: { id }, body }, { wallet }) {
      const { url, status } = body
      const { channel } = await findWebhook(deps, wallet, id)
      const filter = filterOf(channel, body, deps)
      const hook = await change(deps, wallet, id, {
        ...(url !== undefined && { url }),
        ...(body.wallets !== undefined && { wallets: filter.wallets }),
        ...(body.mints !== undefined && { mints: filter.mints }),
        ...(status !== undefined && { isActive: status === 'active' }),
      })
      return { body: await itemOf(deps, hook) }
    },
  })
}

function deleteWebhook({ webhooks, events }: WebhookDeps) {
  return dashboardResource({
    path: '/me/webhooks/:id',
    method: 'DELETE',
    docs: {
      tag: 'Account',
      summary: 'Delete a webhook',
      description: 'Nothing is delivered from two seconds on.',
      problems: ['webhook_not_found'],
      statuses: [204],
      example: undefined,
    },
    params,
    answer: z.undefined(),
    async handle({ params: { id } }, { wallet }, network) {
      if (!(await webhooks.delete(wallet, id))) throw new ApiError('webhook_not_found')
      events.add(wallet, 'webhook_deleted', network)
      return { status: 204, body: undefined }
    },
  })
}

function rotateSecret(deps: WebhookDeps) {
  return dashboardResource({
    path: '/me/webhooks/:id/secret',
    method: 'POST',
    docs: {
      tag: 'Account',
      summary: 'Rotate the secret of a webhook',
      description:
        'For 24 hours deliveries have a signature of both secrets, so that the receiver can change meanwhile.',
      problems: ['webhook_not_found'],
      example: { ...EXAMPLE, secret: EXAMPLE_SECRET },
    },
    params,
    answer: NewSecretAnswer,
    async handle({ params: { id } }, { wallet }, network) {
      // Read first: nothing may keep the answer with the secret back once it holds.
      const progress = (await readHookProgress(deps.store, [id])).get(id)
      const hook = await change(deps, wallet, id, { rotate: true })
      deps.events.add(wallet, 'webhook_secret_rotated', network)
      return { body: { ...webhookItem(hook, progress), secret: deps.hookSecrets.secretOf(hook) } }
    },
  })
}

function replayWebhook(deps: WebhookDeps) {
  return dashboardResource({
    path: '/me/webhooks/:id/replay',
    method: 'POST',
    docs: {
      tag: 'Account',
      summary: 'Send a webhook back to a position',
      description:
        'Goes on after the position, which may be the `id` of any message, or a cursor of `GET /trades`. Trades that the webhook has paid for are free.',
      problems: ['webhook_not_found', 'invalid_cursor'],
      requestExample: { cursor: EXAMPLE_CURSOR },
      example: EXAMPLE,
    },
    params,
    requestBody: z.object({
      cursor: z.string().meta({ format: 'cursor', description: 'Position of the feed' }),
    }),
    answer: WebhookAnswer,
    async handle({ params: { id }, body: { cursor } }, { wallet }) {
      const { channel } = await findWebhook(deps, wallet, id)
      requireCursor(channel, cursor, 'cursor', deps)
      return { body: await itemOf(deps, await change(deps, wallet, id, { replayAfter: cursor })) }
    },
  })
}

function testWebhook(deps: WebhookDeps) {
  return dashboardResource({
    path: '/me/webhooks/:id/test',
    method: 'POST',
    docs: {
      tag: 'Account',
      summary: 'Deliver a test message',
      description:
        'Posts `{"type": "test"}`, signed, within two seconds, once, also to a paused webhook. The deliveries show how the receiver answered. Free.',
      problems: ['webhook_not_found'],
      example: EXAMPLE,
    },
    params,
    answer: WebhookAnswer,
    async handle({ params: { id } }, { wallet }) {
      return { body: await itemOf(deps, await change(deps, wallet, id, { test: true })) }
    },
  })
}

function webhookDeliveries({ store, webhooks }: WebhookDeps) {
  return dashboardResource({
    path: '/me/webhooks/:id/deliveries',
    docs: {
      tag: 'Account',
      summary: 'The newest deliveries of a webhook',
      description:
        'At most 100 attempts of the last 7 days, newest first, up to two seconds behind.',
      problems: ['webhook_not_found'],
      example: {
        items: [
          {
            at: 1_790_003_600,
            id: `${EXAMPLE_ID}.${EXAMPLE_CURSOR}`,
            kind: 'messages',
            messages: 3,
            attempt: 1,
            status: 200,
            failure: null,
            latency_ms: 84,
          },
        ],
      },
    },
    params,
    answer: componentSchema('DeliveriesAnswer', 'Attempts to deliver to a webhook.', {
      items: z.array(DeliveryItem).describe('Newest first'),
    }),
    async handle({ params: { id } }, { wallet }) {
      await findWebhook({ webhooks }, wallet, id)
      const attempts = await readAttempts(store, id, MOST_DELIVERIES)
      return { body: { items: attempts.map(deliveryItem) } }
    },
  })
}

/** A webhook of nobody who ever pays would cost the service and nobody else. */
async function requireCredits({ credits }: WebhookDeps, wallet: string): Promise<void> {
  if ((await credits.left(wallet)) > 0) return
  throw new ApiError('insufficient_credits', {
    title:
      'Each trade costs 1 credit, and none is left. Buy credits on /dashboard, or as GET /billing/plans says.',
  })
}

async function findWebhook(
  { webhooks }: Pick<WebhookDeps, 'webhooks'>,
  wallet: string,
  id: string,
): Promise<StoredWebhook> {
  const hook = (await webhooks.list(wallet)).find((one) => one.id === id)
  if (hook === undefined) throw new ApiError('webhook_not_found')
  return hook
}

async function change(
  { webhooks }: WebhookDeps,
  wallet: string,
  id: string,
  change: WebhookChange,
): Promise<StoredWebhook> {
  const hook = await webhooks.change(wallet, id, change)
  if (hook === null) throw new ApiError('webhook_not_found')
  return hook
}

async function itemOf({ store }: WebhookDeps, hook: StoredWebhook) {
  return webhookItem(hook, (await readHookProgress(store, [hook.id])).get(hook.id))
}

/** The filter of a body; lists that are null or absent are empty. Views have no wallets. */
function filterOf(
  channel: HookChannel,
  body: {
    readonly wallets?: readonly string[] | null | undefined
    readonly mints?: readonly string[] | null | undefined
  },
  { position }: WebhookDeps,
) {
  const { wallets, mints } = body
  if (channel !== 'trades' && wallets)
    throw new ApiError('invalid_parameter', {
      errors: [{ in: 'body', name: 'wallets', message: 'only the channel trades has this filter' }],
    })
  const count = position.walletCount()
  return { wallets: wallets?.map((alias) => trackedWallet(alias, count)) ?? [], mints: mints ?? [] }
}

function requireCursor(
  channel: HookChannel,
  text: string,
  name: string,
  { isPosition }: WebhookDeps,
): void {
  if (isPosition(channel, text)) return
  throw new ApiError('invalid_cursor', {
    errors: [{ in: 'body', name, message: `expected a position of the channel ${channel}` }],
  })
}

const MOST_DELIVERIES = 100
const EXAMPLE_ID = '0b54b1c5-5ce5-4a57-9a1a-6e3f0a6a1f10'
const EXAMPLE_CURSOR = 'mUkuqtcKjnOS0xqIt6vO8yZ1bqS3kWgLx0m4dHc2pQe7rTfVaA'
const EXAMPLE_SECRET = `whsec_${Buffer.from('thirty-two bytes of this example').toString('base64')}`
const EXAMPLE: z.infer<typeof WebhookItem> = {
  id: EXAMPLE_ID,
  url: 'https://bot.example/trades',
  channel: 'trades',
  wallets: ['W1', 'W12'],
  mints: null,
  status: 'active',
  cursor: EXAMPLE_CURSOR,
  failing_since: null,
  created_at: 1_790_000_000,
}

const NewSecretAnswer = componentSchema('NewWebhookAnswer', 'A webhook, with a new secret.', {
  ...WebhookItem.shape,
  secret: z.string().describe('Verifies deliveries (`whsec_...`)'),
})
