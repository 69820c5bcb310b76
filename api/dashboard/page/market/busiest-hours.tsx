import { hourBars } from '../charts/hour-bars.ts'

/** The hours in which a wallet made most transactions, in UTC and in local time. */
export function BusiestHours(props: {
  readonly times: readonly { readonly hour_utc: number; readonly tx_count: number }[]
}) {
  const bars = hourBars(props.times, new Date().getTimezoneOffset())
  if (bars.length === 0) return <p class="about">This wallet has no transactions yet.</p>
  return (
    <table class="bars">
      <caption>Busiest hours of the day</caption>
      <thead>
        <tr>
          <th scope="col">Hour (UTC)</th>
          <th scope="col">Your time</th>
          <th scope="col" class="is-number">
            Transactions
          </th>
          <td />
        </tr>
      </thead>
      <tbody>
        {bars.map(({ utc, local, count, fraction }) => (
          <tr key={utc}>
            <th scope="row">{utc}</th>
            <td>{local}</td>
            <td class="is-number">{count}</td>
            <td class="track" aria-hidden="true">
              <span style={{ width: `${fraction * 100}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
