/** Buy or sell, told by word and sign, not by colour alone. */
export function Side({ side }: { side: 'buy' | 'sell' }) {
  return (
    <span class={side === 'buy' ? 'is-good' : 'is-bad'}>
      <span aria-hidden="true">{side === 'buy' ? '▲' : '▼'}</span> {side}
    </span>
  )
}
