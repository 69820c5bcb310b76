import { aliasOf } from '../../pipeline/domain/alias.ts'
import type { HeldPositionRow } from '../../pipeline/store/tables/positions.ts'
import { digestOf, JsonText } from '../rendered-answer.ts'
import type { HeldRows } from '../rows/held-rows.ts'
import { walletHoldingItem } from './holding.ts'

/**
 * Renders what a wallet holds as the JSON text of `GET /wallets/{alias}/holdings`. A wallet may hold thousands of tokens, of which only the ages change, once a second: what was
 * rendered last is kept, and the ages are written over once nobody reads it; else, and when a token changes, the others are copied from there. It is kept of so many wallets as take
 * at most `maxBytes`; those asked for longest ago go first. New text each second, half a megabyte a wallet, would bring a collection of all memory every second.
 */
export class WalletHoldingsText {
  readonly #maxBytes: number
  /** By wallet, the one asked for longest ago first. */
  readonly #known = new Map<number, Rendered>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The answer with `walletHoldingItem` of each row, as of block time `now`. */
  render(wallet: number, rows: HeldRows, now: number): JsonText {
    const known = this.#known.get(wallet)
    const current = known && isAged(known, rows, now) ? known : rendered(wallet, rows, now, known)
    this.#known.delete(wallet)
    this.#known.set(wallet, current)
    this.#bytes += current.text.length - (known?.text.length ?? 0)
    for (const [oldest, { text }] of this.#known) {
      if (this.#bytes <= this.#maxBytes) break
      this.#known.delete(oldest)
      this.#bytes -= text.length
    }
    current.lent++
    current.digest ??= digestOf(current.text)
    return new JsonText(current.text, current.digest, () => {
      current.lent--
    })
  }
}

interface Rendered {
  readonly serials: readonly number[]
  now: number
  readonly text: Buffer
  /** Of the text; null until it is asked for. */
  digest: string | null
  /** How many read the text. */
  lent: number
  /** Of each row, where in `text` it begins and where its age begins. */
  readonly starts: Uint32Array
  readonly ages: Uint32Array
}

/** Writes the ages of another time over those in the text. False where the rows are others, somebody reads the text, or an age has another number of digits: then it has to be rendered. */
function isAged(known: Rendered, rows: HeldRows, now: number): boolean {
  const { serials, starts, ages, text } = known
  if (serials !== rows.serials) return false
  if (known.now === now) return true
  if (known.lent > 0) return false
  for (let index = 0; index < ages.length; index++) {
    let age = now - rows.firstTradeTime(index)
    if (age < 0) return false
    const next = starts[index + 1]
    let at = (next === undefined ? text.length - ']}'.length : next - ','.length) - '}}'.length
    const first = ages[index]!
    do {
      const rest = Math.floor(age / 10)
      text[--at] = ZERO + age - rest * 10
      age = rest
    } while (age > 0 && at > first)
    if (age > 0 || at > first) return false
  }
  known.now = now
  known.digest = null
  return true
}

const ZERO = '0'.charCodeAt(0)

function rendered(wallet: number, rows: HeldRows, now: number, known?: Rendered): Rendered {
  const head = `{"wallet":"${aliasOf(wallet)}","tokens":[`
  const { serials } = rows
  const knownAt = new Map(known?.serials.map((serial, at) => [serial, at]))
  let size = head.length + ']}'.length
  const beginnings = serials.map((serial, index) => {
    const at = knownAt.get(serial)
    const isKnown = known !== undefined && at !== undefined
    const text = isKnown
      ? known.text.subarray(known.starts[at], known.ages[at])
      : beginning(rows.row(index))
    size += text.length + MOST_DIGITS + '}},'.length
    return text
  })
  const text = Buffer.allocUnsafe(size)
  const starts = new Uint32Array(serials.length)
  const ages = new Uint32Array(serials.length)
  let end = text.write(head, 'latin1')
  for (const [index, begun] of beginnings.entries()) {
    if (index > 0) end += text.write(',', end, 'latin1')
    starts[index] = end
    end += begun.copy(text, end)
    ages[index] = end
    end += text.write(`${now - rows.firstTradeTime(index)}}}`, end, 'latin1')
  }
  end += text.write(']}', end, 'latin1')
  return { serials, now, text: text.subarray(0, end), digest: null, lent: 0, starts, ages }
}

/** A row's text up to its age, which is the last field of its last part. */
function beginning(row: HeldPositionRow): Buffer {
  const text = JSON.stringify(walletHoldingItem(row, row.first_trade_time))
  return Buffer.from(text.slice(0, -'0}}'.length))
}

/** Of an age in seconds, sign and all. */
const MOST_DIGITS = 11
