import { isIP } from 'node:net'
import { z } from 'zod'
import { parseAddress } from '../../pipeline/domain/address.ts'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { FAILURES, type HookAttempt } from '../webhooks/deliveries.ts'
import type { HookProgress } from '../webhooks/hook-progress.ts'
import { isAllowedAddress } from '../webhooks/public-address.ts'
import { HOOK_CHANNELS, type StoredWebhook } from '../webhooks/webhooks.ts'
import { alias, mint, time } from './fields.ts'

const MOST_FILTERS = 100
const STATUSES = ['active', 'paused', 'balance_exhausted', 'failing', 'gone', 'disabled'] as const

/** A webhook, as its owner sees it (rule M1). */
export const WebhookItem = z
  .strictObject({
    id: z.uuid().describe('Names the webhook'),
    url: z.string().describe('Where deliveries go'),
    channel: z.enum(HOOK_CHANNELS).describe('Which messages of the feed'),
    wallets: z.array(alias).nullable().describe('Whose trades; null: those of all wallets'),
    mints: z.array(mint).nullable().describe('Of which tokens; null: of all'),
    status: z.enum(STATUSES).meta({
      description:
        '`paused` by its owner; `balance_exhausted`: goes on with new credits; `failing`: every attempt of a day failed; `gone`: the receiver answered 410; `disabled`: the account is, or its Pro has ended',
    }),
    cursor: z
      .string()
      .nullable()
      .describe('Position after the last delivery, up to a second old; null: before the first'),
    failing_since: time
      .nullable()
      .describe('First of the deliveries that failed in a row; null: the last one was accepted'),
    created_at: time,
  })
  .meta({ id: 'WebhookItem', description: 'A place to which messages of the feed are posted.' })

/** An attempt to deliver. */
export const DeliveryItem = z
  .strictObject({
    at: time.describe('When it was sent'),
    id: z.string().describe('The `webhook-id` of the delivery, the same in all its attempts'),
    kind: z.enum(['messages', 'test']),
    messages: z.int().min(0).describe('How many messages it had'),
    attempt: z.int().min(1).describe('From 1'),
    status: z.int().nullable().describe('HTTP status of the answer; null without one'),
    failure: z.enum(FAILURES).nullable().describe('Why it was not accepted; null: it was'),
    latency_ms: z.int().min(0).describe('Milliseconds until the answer, or until it failed'),
  })
  .meta({ id: 'DeliveryItem', description: 'An attempt to deliver to a webhook.' })

const LIST = { error: `expected a list of 1 to ${MOST_FILTERS}` }
// `trackedWallet` refuses what is no alias, as the feed does (rule F2).
const wallets = z
  .array(z.string().meta({ examples: ['W12'] }))
  .min(1, LIST)
  .max(MOST_FILTERS, LIST)
  .transform((list) => [...new Set(list)])
const mints = z
  .array(
    mint
      .refine((text) => parseAddress(text) !== null, 'expected token addresses')
      .meta({ format: 'solana-address' }),
  )
  .min(1, LIST)
  .max(MOST_FILTERS, LIST)
  .transform((list) => [...new Set(list)])

/** The schema of the URL of a webhook. With `loopback`, `http` and loopback are allowed. */
export function hookUrl(loopback: boolean) {
  return z
    .string()
    .max(2000, { error: 'expected at most 2,000 characters' })
    .refine((text) => isHookUrl(text, loopback), {
      error: 'expected the https URL of a receiver on the public internet, without a user and #',
    })
    .meta({ format: 'uri', description: 'Where deliveries go: `https`, on the public internet' })
}

function isHookUrl(text: string, loopback: boolean): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, hostname } = new URL(text)
  if (username !== '' || password !== '' || text.includes('#')) return false
  if (protocol !== 'https:' && !(loopback && protocol === 'http:')) return false
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0) return isAllowedAddress(host, loopback)
  return loopback || (host.includes('.') && !host.endsWith('.localhost'))
}

/** The request body for a new webhook. */
export function newWebhook(loopback: boolean) {
  return z.object({
    url: hookUrl(loopback),
    channel: z.enum(HOOK_CHANNELS).default('trades').describe('Which messages of the feed'),
    wallets: wallets.nullable().default(null).describe('Whose trades; null, the default: all'),
    mints: mints.nullable().default(null).describe('Of which tokens; null, the default: all'),
    after: z.string().nullable().default(null).meta({
      format: 'cursor',
      description:
        'Begins after this position of the feed; null, the default: with the next message',
    }),
  })
}

/** The request body for a change. What is absent stays as it is. */
export function changedWebhook(loopback: boolean) {
  return z.object({
    url: hookUrl(loopback).optional(),
    wallets: wallets.nullable().optional().describe('Whose trades; null: all'),
    mints: mints.nullable().optional().describe('Of which tokens; null: of all'),
    status: z
      .enum(['active', 'paused'])
      .optional()
      .describe('`active` also ends `failing` and `gone`'),
  })
}

/** Renders a webhook. */
export function webhookItem(
  hook: StoredWebhook,
  progress: HookProgress | undefined,
): z.input<typeof WebhookItem> {
  const { state = 'active', after = '', failingSince = null, activations = 0 } = progress ?? {}
  const isResumed = hook.activations > activations && (state === 'failing' || state === 'gone')
  return {
    id: hook.id,
    url: hook.url,
    channel: hook.channel,
    wallets: hook.wallets.length === 0 ? null : hook.wallets.map(aliasOf),
    mints: hook.mints.length === 0 ? null : [...hook.mints],
    status: hook.isActive ? (isResumed ? 'active' : state) : 'paused',
    cursor: after === '' ? null : after,
    failing_since: failingSince === null ? null : Math.floor(failingSince / 1000),
    created_at: Math.floor(hook.createdAt / 1000),
  }
}

/** Renders an attempt to deliver. */
export function deliveryItem(attempt: HookAttempt): z.input<typeof DeliveryItem> {
  return {
    at: Math.floor(attempt.at / 1000),
    id: attempt.delivery,
    kind: attempt.kind,
    messages: attempt.messages,
    attempt: attempt.attempt,
    status: attempt.status === 0 ? null : attempt.status,
    failure: attempt.failure,
    latency_ms: attempt.latencyMs,
  }
}
