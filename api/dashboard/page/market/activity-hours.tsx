import { hourBars } from '../charts/hours.ts'

/** The hours of the day in which a wallet is busiest, on the clock of UTC and of whoever looks. */
export function ActivityHours(props: {
  readonly times: readonly { readonly hour_utc: number; readonly tx_count: number }[]
}) {
  const bars = hourBars(props.times, new Date().getTimezoneOffset())
  if (bars.length === 0) return <p class="about">It has not traded yet.</p>
  return (
    <table class="bars">
      <caption>Busiest hours, by transactions</caption>
      <thead>
        <tr>
          <th scope="col">Hour, UTC</th>
          <th scope="col">Your clock</th>
          <th scope="col" class="is-figure">
            Transactions
          </th>
          <td />
        </tr>
      </thead>
      <tbody>
        {bars.map(({ utc, local, count, part }) => (
          <tr key={utc}>
            <th scope="row">{utc}</th>
            <td>{local}</td>
            <td class="is-figure">{count}</td>
            <td class="track" aria-hidden="true">
              <span style={{ width: `${part * 100}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
