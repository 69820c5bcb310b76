/** What each status of a wallet means (rule C13). */
export const WALLET_STATUSES = {
  scored: 'has 50 to 1,000 trades, and a score',
  review: 'has fewer than 50 or more than 1,000 trades, so there is no score',
  disqualified: 'holds less than 10 SOL, or has lost money with a win rate below 35%',
} as const

/** A status of a wallet. */
export type WalletStatus = keyof typeof WALLET_STATUSES

/** The status of a wallet, with its meaning as the tooltip. */
export function StatusText({ status }: { status: WalletStatus }) {
  return (
    <span class={`status ${status}`} title={`A wallet that ${WALLET_STATUSES[status]}`}>
      {status}
    </span>
  )
}

/** The meanings of the statuses that a list shows. */
export function StatusLegend({ shown }: { readonly shown: ReadonlySet<WalletStatus> }) {
  return (
    <dl class="legend">
      {Object.entries(WALLET_STATUSES)
        // The entries are those of the record above.
        .filter(([status]) => shown.has(status as WalletStatus))
        .map(([status, meaning]) => (
          <div key={status}>
            <dt>{status}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
    </dl>
  )
}
