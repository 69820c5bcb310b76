import { CopyIcon } from '../components/copy-icon.tsx'
import { shortAddress } from './format.ts'
import { TokenLink } from './formatted.tsx'

/** A token in a table: its symbol as a link, and a button that copies its address. */
export function TokenSymbol({ mint, symbol }: { mint: string; symbol: string | null }) {
  return (
    <span class="token">
      <TokenLink mint={mint} symbol={symbol ?? ''} />
      <CopyIcon text={mint} what={`address of ${symbol ?? shortAddress(mint)}`} />
    </span>
  )
}
