/** What can be bought, and where it is paid: `GET /billing/plans`. */
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
