import { formatLongDuration, formatUtcTime } from '../amounts.ts'
import type { DeliveryEntry, WebhookEntry } from '../responses.ts'

/** A receiver that fails for fewer seconds is no reason for a notice. */
const SHORT_FAILURE = 300

/** Display text of each channel. */
export const CHANNEL_TEXTS: Readonly<Record<WebhookEntry['channel'], string>> = {
  trades: 'Trades',
  watchlist: 'Trending tokens (Pro)',
  signals: 'Signals (Pro)',
}

/** Names the messages that a webhook gets: “Trades of W1, W12, of all tokens”. */
export function filterText({ channel, wallets, mints }: WebhookEntry): string {
  const tokens = `of ${mints === null ? 'all tokens' : mints.join(', ')}`
  if (channel !== 'trades') return `${CHANNEL_TEXTS[channel]}, ${tokens}`
  return `Trades of ${wallets === null ? 'all wallets' : wallets.join(', ')}, ${tokens}`
}

/** Says whether a webhook delivers, and else why not. `now` is in unix seconds. */
export function webhookStatusText(
  { status, channel, failing_since: since }: WebhookEntry,
  now: number,
): string {
  switch (status) {
    case 'active':
      if (since === null) return 'Delivering'
      return `Failing for ${formatLongDuration(Math.max(0, Math.floor(now) - since))}, since ${formatUtcTime(since)}. The delivery is tried again, for a day.`
    case 'paused':
      return 'Paused by you'
    case 'balance_exhausted':
      return 'Waiting for credits'
    case 'failing':
      return `Paused, because no delivery was accepted ${since === null ? 'for a day' : `since ${formatUtcTime(since)}`}`
    case 'gone':
      return 'Paused, because the receiver answered 410 (gone)'
    case 'disabled':
      return channel === 'trades'
        ? 'Stopped, because the account is disabled'
        : 'Stopped, because Pro has ended'
  }
}

/** Whether a webhook does not deliver, for a reason other than that its owner paused it. */
export function needsOwner({ status, failing_since: since }: WebhookEntry, now: number): boolean {
  if (status === 'active') return since !== null && now - since >= SHORT_FAILURE
  return status !== 'paused'
}

/** The host of a webhook, by which people know it. */
export function hostOf(url: string): string {
  return new URL(url).host
}

/** Says how a delivery ended. */
export function outcomeText({
  status,
  failure,
}: Pick<DeliveryEntry, 'status' | 'failure'>): string {
  if (failure === null) return `Accepted (${status})`
  return `${FAILURE_TEXTS[failure] ?? failure}${status === null ? '' : ` (${status})`}`
}

/** Display text of each failure. An unknown one is shown by its name. */
const FAILURE_TEXTS: Readonly<Record<string, string>> = {
  address_not_allowed: 'The host has an address that is not on the public internet',
  unknown_host: 'The name of the host is not known',
  no_connection: 'No connection',
  bad_certificate: 'The certificate is not valid',
  no_answer: 'No answer within 10 seconds',
  redirect: 'A redirect, which is not followed',
  status: 'Not accepted',
} satisfies Record<NonNullable<DeliveryEntry['failure']>, string>

/**
 * The cursor after a delivery of messages, which is the part of its `webhook-id` behind that of the
 * webhook. Null for a test, and for a delivery that was not accepted: a replay would skip it.
 */
export function cursorAfter({ id, kind, failure }: DeliveryEntry): string | null {
  return kind === 'messages' && failure === null ? id.slice(id.indexOf('.') + 1) : null
}
