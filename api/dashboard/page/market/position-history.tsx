import { useId, useState } from 'preact/hooks'
import { formatCredits } from '../amounts.ts'
import { isTokenAddress } from '../data/identifiers.ts'
import { MoreButton } from '../data/more-button.tsx'
import { PaidView } from '../data/paid-view.tsx'
import { TokenSymbol } from '../data/token-symbol.tsx'
import { PositionChart } from './position-chart.tsx'
import { SWAPS_PRICE, useTokenSwaps } from './use-token-swaps.ts'

interface HeldToken {
  readonly address: string
  readonly symbol: string | null
}

/** A wallet's position in a token over time, and the form that selects the token. */
export function PositionHistory(props: {
  readonly alias: string
  /** Tokens that the form suggests. */
  readonly held: readonly HeldToken[]
  /** The selected token, or null. */
  readonly mint: string | null
  readonly select: (mint: string) => void
}) {
  const { alias, held, mint, select } = props
  return (
    <>
      <p class="about">
        Computed from the swaps of the token by all tracked wallets. Each 200 swaps cost{' '}
        {formatCredits(SWAPS_PRICE)}. Realised profit matches each sell with the oldest buys, as in
        the metrics. Transfers are left out, so it is that of “strict”.
      </p>
      <TokenForm held={held} select={select} />
      {mint !== null && <Position key={mint} alias={alias} mint={mint} />}
    </>
  )
}

function TokenForm(props: {
  readonly held: readonly HeldToken[]
  readonly select: (mint: string) => void
}) {
  const { held, select } = props
  const [text, setText] = useState('')
  const [isInvalid, setIsInvalid] = useState(false)
  const id = useId()
  return (
    <form
      class="inline-form"
      onSubmit={(event) => {
        event.preventDefault()
        const mint = text.trim()
        const isValid = isTokenAddress(mint)
        setIsInvalid(!isValid)
        if (isValid) select(mint)
      }}
    >
      <label for={id}>Token address</label>
      <input
        type="text"
        id={id}
        list={`${id}-held`}
        value={text}
        spellcheck={false}
        aria-invalid={isInvalid}
        aria-describedby={`${id}-error`}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <datalist id={`${id}-held`}>
        {held.map(({ address, symbol }) => (
          <option key={address} value={address}>
            {symbol}
          </option>
        ))}
      </datalist>
      <button type="submit">Select this token</button>
      <span id={`${id}-error`} role="alert">
        {isInvalid ? 'This is not a token address. Enter 32 to 44 base58 characters.' : ''}
      </span>
    </form>
  )
}

function Position({ alias, mint }: { alias: string; mint: string }) {
  const loaded = useTokenSwaps(mint)
  return (
    <>
      <p>
        Token: <TokenSymbol mint={mint} symbol={loaded.items[0]?.symbol ?? null} />
      </p>
      <PaidView query={loaded.first} what="the swaps of this token">
        {() => (
          <>
            <PositionChart alias={alias} swaps={loaded.items} isComplete={loaded.isComplete} />
            <MoreButton list={loaded} what="200 older swaps" />
          </>
        )}
      </PaidView>
    </>
  )
}
