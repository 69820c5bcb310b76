import type { ProfitPointItem } from '../../items/profit-point.ts'
import type { SearchHit } from '../../items/search.ts'
import type { WalletMetricsItem } from '../../items/wallet-metrics.ts'

/*
 * Response bodies of the API, with the members that the pages use. Times are unix seconds.
 * `page-parts.test.ts` checks them against the schemas of the API documents.
 */

/** `GET /me/api` and `POST /me/api/rotate`. */
export interface AccountResponse {
  readonly wallet: string
  /** The full API key, only in the response that created it. Else null. */
  readonly api_key: string | null
  readonly api_key_last4: string
  readonly balance_credits: number
  readonly reserved_credits: number
  readonly api_key_created_at: number
  readonly api_key_rotated_at: number | null
  readonly last_used_at: number | null
}

/** `GET /me/usage`, newest first. */
export interface UsageResponse {
  readonly by: UsageInterval
  readonly items: readonly { readonly starts_at: number; readonly credits: number }[]
}

/** The length of one entry of the usage list. */
export type UsageInterval = 'hour' | 'day'

/** `GET /me/events`, newest first. */
export interface AccountEventsResponse {
  readonly items: readonly AccountEventEntry[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** A security event of an account. `at` is the time of the first of `count` events. */
export interface AccountEventEntry {
  readonly kind:
    | 'signed_in'
    | 'sign_in_failed'
    | 'signed_out'
    | 'signed_out_everywhere'
    | 'key_created'
    | 'key_rotated'
    | 'key_deleted'
    | 'session_revoked'
    | 'webhook_created'
    | 'webhook_deleted'
    | 'webhook_secret_rotated'
    | 'key_refused'
  readonly at: number
  readonly network: string
  readonly count: number
}

/** `GET /me/keys`, oldest first. */
export interface ApiKeysResponse {
  readonly items: readonly ApiKeyEntry[]
}

/** A named API key. */
export interface ApiKeyEntry {
  readonly id: string
  readonly name: string
  readonly last4: string
  readonly scopes: readonly KeyUse[]
  readonly allowed_addresses: readonly string[] | null
  readonly created_at: number
  readonly expires_at: number | null
  readonly last_used_at: number | null
}

/** What a named key may be used for. */
export type KeyUse = 'read' | 'feed'

/** `POST /me/keys`: the only response with the key. */
export interface NewApiKeyResponse extends ApiKeyEntry {
  readonly api_key: string
}

/** `GET /me/webhooks`, oldest first. */
export interface WebhooksResponse {
  readonly items: readonly WebhookEntry[]
}

/** A webhook. Lists that are null stand for all. */
export interface WebhookEntry {
  readonly id: string
  readonly url: string
  readonly channel: 'trades' | 'watchlist' | 'signals'
  readonly wallets: readonly string[] | null
  readonly mints: readonly string[] | null
  readonly status: 'active' | 'paused' | 'balance_exhausted' | 'failing' | 'gone' | 'disabled'
  readonly cursor: string | null
  readonly failing_since: number | null
  readonly created_at: number
}

/** `POST /me/webhooks` and `POST /me/webhooks/{id}/secret`: the only responses with the secret. */
export interface NewWebhookResponse extends WebhookEntry {
  readonly secret: string
}

/** `GET /me/webhooks/{id}/deliveries`, newest first. */
export interface DeliveriesResponse {
  readonly items: readonly DeliveryEntry[]
}

/** An attempt to deliver. */
export interface DeliveryEntry {
  readonly at: number
  readonly id: string
  readonly kind: 'messages' | 'test'
  readonly messages: number
  readonly attempt: number
  /** HTTP status; null without an answer. */
  readonly status: number | null
  /** Null: the receiver has accepted it. */
  readonly failure:
    | 'address_not_allowed'
    | 'unknown_host'
    | 'no_connection'
    | 'bad_certificate'
    | 'no_answer'
    | 'redirect'
    | 'status'
    | null
  readonly latency_ms: number
}

/** `GET /me/sessions`, newest first. */
export interface SessionsResponse {
  readonly items: readonly SessionEntry[]
}

/** A login to the dashboard. */
export interface SessionEntry {
  readonly id: string
  readonly created_at: number
  readonly expires_at: number
  readonly last_used_at: number
  readonly network: string
  readonly is_current: boolean
}

/** `POST /me/session-key`. */
export interface SessionKeyResponse {
  readonly session_key: string
  readonly expires_at: number
}

/** `GET /billing/plans`. */
export interface PlansResponse {
  readonly payment_addresses: { readonly pro_access: string; readonly api_credits: string }
  readonly usdt_mint: string
  readonly usdt_decimals: number
  readonly credits_per_usdt: number
  readonly plans: readonly PlanItem[]
}

/** A plan of Pro and its price in USDT. */
export interface PlanItem {
  readonly plan: string
  readonly usdt: number
  readonly days: number
}

/** `POST /billing/credits/check`. */
export interface CreditsCheckResponse {
  /** Credits that this request added. */
  readonly credited: number
  readonly balance_credits: number
}

/** `POST /billing/pro/check`. */
export interface ProCheckResponse {
  readonly active: boolean
  readonly plan: string | null
  readonly expires_at: number | null
  readonly seconds_left: number
}

/** `GET /billing/credits/topups`, newest first. */
export interface TopUpsResponse {
  readonly items: readonly {
    readonly tx_signature: string
    readonly amount_usdt: number
    readonly credits: number
    readonly created_at: number
  }[]
}

/** `GET /billing/pro/payments`, newest first. */
export interface ProPaymentsResponse {
  readonly items: readonly {
    readonly tx_signature: string
    readonly amount_usdt: number
    readonly plan: string
    readonly days: number
    readonly created_at: number
    readonly expires_at: number
  }[]
}

/** `GET /status`. */
export interface StatusResponse {
  readonly storage: { readonly slot: number | null; readonly block_time: number | null }
  readonly feed: { readonly connections: number }
  readonly lag_seconds: number | null
}

/** `GET /wallets` with a sort (rule L10). */
export interface BoardResponse {
  readonly page: number
  readonly page_size: number
  readonly total: number
  readonly has_more: boolean
  /** The hour up to which the figures of the period count. Null while history is being fetched. */
  readonly as_of: number | null
  readonly items: readonly BoardItem[]
}

/** A wallet of the leaderboard. */
export interface BoardItem extends WalletMetricsItem {
  readonly period: {
    readonly pnl_sol: number
    readonly winrate: number | null
    readonly trades: number
    readonly volume_sol: number
    readonly rank: number
  }
}

/** `GET /search` (rule L17), best hit first. */
export interface SearchResponse {
  readonly items: readonly SearchHit[]
}

/** `GET /wallets/{alias}/pnl` (rule L8), oldest point first. */
export interface ProfitResponse {
  readonly items: readonly ProfitPointItem[]
}
