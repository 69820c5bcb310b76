import { parseTradeFilter } from '../data/trade-list.ts'
import type { WebhookEntry } from '../responses.ts'

/** The form of a webhook, as the customer filled it in. */
export interface WebhookForm {
  readonly url: string
  readonly channel: WebhookEntry['channel']
  /** Aliases, separated by spaces or commas; empty: all. */
  readonly wallets: string
  /** Token addresses, separated by spaces or commas; empty: all. */
  readonly mints: string
}

/** What the customer chooses of a webhook. */
export type ChosenTerms = Pick<WebhookEntry, 'url' | 'channel' | 'wallets' | 'mints'>

/** Fills the form with the terms of a webhook. */
export function formOf({ url, channel, wallets, mints }: ChosenTerms): WebhookForm {
  return {
    url,
    channel,
    wallets: wallets?.join(', ') ?? '',
    mints: mints?.join(', ') ?? '',
  }
}

/**
 * Returns the body of `POST /me/webhooks`, and what is wrong with the form. Only trades have a
 * filter. The service checks where the URL leads.
 */
export function webhookTerms({ url, channel, wallets, mints }: WebhookForm): {
  readonly body: ChosenTerms
  readonly errors: readonly string[]
} {
  const { filter, errors } = parseTradeFilter(channel === 'trades' ? wallets : '', mints)
  const orAll = (list: readonly string[]) => (list.length === 0 ? null : list)
  const isUrl = URL.canParse(url.trim())
  return {
    body: { url: url.trim(), channel, wallets: orAll(filter.wallets), mints: orAll(filter.mints) },
    errors: isUrl ? errors : ['Enter a URL such as https://bot.example/trades.', ...errors],
  }
}

/**
 * Returns the body of `PATCH /me/webhooks/{id}`: the terms that differ. A filter that is sent
 * counts as changed, so that a replay would cost again.
 */
export function webhookChange(
  before: ChosenTerms,
  after: ChosenTerms,
): Partial<Omit<ChosenTerms, 'channel'>> {
  const { url, wallets, mints } = after
  return {
    ...(url !== before.url && { url }),
    ...(!isSame(wallets, before.wallets) && { wallets }),
    ...(!isSame(mints, before.mints) && { mints }),
  }
}

function isSame(one: readonly string[] | null, other: readonly string[] | null): boolean {
  return one?.join() === other?.join()
}
