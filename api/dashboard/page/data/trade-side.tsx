/** Buy or sell, as a word and a sign, so that nothing depends on colour. */
export function TradeSide({ side }: { side: 'buy' | 'sell' }) {
  return (
    <span class={side === 'buy' ? 'is-good' : 'is-bad'}>
      <span aria-hidden="true">{side === 'buy' ? '▲' : '▼'}</span> {side}
    </span>
  )
}
