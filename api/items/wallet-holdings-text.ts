import { type HeldPositionRow, walletHoldingItem } from './holding.ts'

/**
 * Renders what a wallet holds as JSON text. A wallet may hold thousands of tokens, of which only the ages change with each marker: all else of each is kept, as long as
 * the same list of rows is given for the wallet, of so many wallets as take at most `maxBytes`; those asked for longest ago go first.
 */
export class WalletHoldingsText {
  readonly #maxBytes: number
  /** By wallet, the one asked for longest ago first. */
  readonly #known = new Map<number, Known>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** A JSON array of `walletHoldingItem` of each row, as of block time `now`. */
  render(wallet: number, rows: readonly HeldPositionRow[], now: number): string {
    const { beginnings } = this.#of(wallet, rows)
    let text = '['
    for (const [index, row] of rows.entries())
      text += `${index === 0 ? '' : ','}${beginnings[index]}${now - row.first_trade_time}}}`
    return `${text}]`
  }

  #of(wallet: number, rows: readonly HeldPositionRow[]): Known {
    const known = this.#known.get(wallet)
    this.#known.delete(wallet)
    if (known?.rows === rows) {
      this.#known.set(wallet, known)
      return known
    }
    this.#bytes -= known?.bytes ?? 0
    const before = new Map(known?.rows.map((row, index) => [row, known.beginnings[index]]))
    const beginnings = rows.map((row) => before.get(row) ?? beginning(row))
    const bytes = beginnings.reduce((sum, { length }) => sum + length, 0)
    const made = { rows, beginnings, bytes }
    this.#known.set(wallet, made)
    this.#bytes += bytes
    for (const [oldest, { bytes: freed }] of this.#known) {
      if (this.#bytes <= this.#maxBytes) break
      this.#known.delete(oldest)
      this.#bytes -= freed
    }
    return made
  }
}

interface Known {
  readonly rows: readonly HeldPositionRow[]
  /** Of each row, the text up to its age. */
  readonly beginnings: readonly string[]
  readonly bytes: number
}

/** The age is the last field of the last part. */
function beginning(row: HeldPositionRow): string {
  return JSON.stringify(walletHoldingItem(row, row.first_trade_time)).slice(0, -'0}}'.length)
}
