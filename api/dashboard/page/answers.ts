/*
 * What the service answers, as far as these pages show it. Held to the schemas that make the documents by a test. Times in unix seconds.
 */

/** `GET /me/api`. */
export interface Account {
  readonly wallet: string
  /** In the answer that made it alone. */
  readonly api_key: string | null
  readonly api_key_last4: string
  readonly balance_credits: number
  readonly api_key_created_at: number
  readonly api_key_rotated_at: number | null
  readonly last_used_at: number | null
}

/** `GET /me/usage`: newest first. */
export interface Usage {
  readonly by: UsagePeriod
  readonly items: readonly { readonly starts_at: number; readonly credits: number }[]
}

export type UsagePeriod = 'hour' | 'day'

/** `GET /me/events`: newest first. */
export interface AccountEvents {
  readonly items: readonly AccountEvent[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

export interface AccountEvent {
  readonly kind:
    | 'signed_in'
    | 'sign_in_failed'
    | 'signed_out'
    | 'signed_out_everywhere'
    | 'key_created'
    | 'key_rotated'
    | 'key_refused'
  readonly at: number
  readonly network: string
  readonly count: number
}

/** `GET /billing/plans`. */
export interface Plans {
  readonly payment_addresses: { readonly pro_access: string; readonly api_credits: string }
  readonly usdt_mint: string
  readonly usdt_decimals: number
  readonly credits_per_usdt: number
  readonly plans: readonly Plan[]
}

export interface Plan {
  readonly plan: string
  readonly usdt: number
  readonly days: number
}

/** `POST /billing/credits/check`. */
export interface Credited {
  /** By this call. */
  readonly credited: number
  readonly balance_credits: number
}

/** `POST /billing/pro/check`. */
export interface ProStatus {
  readonly active: boolean
  readonly plan: string | null
  readonly expires_at: number | null
  readonly seconds_left: number
}

/** `GET /billing/credits/topups`: newest first. */
export interface TopUps {
  readonly items: readonly {
    readonly tx_signature: string
    readonly amount_usdt: number
    readonly credits: number
    readonly created_at: number
  }[]
}

/** `GET /status`. */
export interface Status {
  readonly storage: { readonly slot: number | null; readonly block_time: number | null }
  readonly feed: { readonly connections: number }
  readonly lag_seconds: number | null
}
