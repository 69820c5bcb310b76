import { LRUCache } from 'lru-cache'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import type { HeldPositionRow } from '../../pipeline/store/tables/positions.ts'
import { digestOf, JsonText } from '../rendered-answer.ts'
import { walletHoldingItem } from './holding.ts'

/** Open positions of wallets as of a marker. */
export interface HeldRows {
  /** Number of the marker. */
  readonly marker: number
  /** Rows of a wallet's open positions, by newest trade descending, then mint. */
  ofWallet(wallet: number): Uint32Array
  row(row: number): HeldPositionRow
  firstTradeTime(row: number): number
  /** Number of the marker that put the position into its row, as it is. */
  changedAt(row: number): number
}

/**
 * Renders what a wallet holds as the JSON text of `GET /wallets/{alias}/holdings`. A wallet may
 * hold thousands of tokens, and block time changes only their ages. So the last text is cached,
 * and its ages are overwritten once nobody reads it. Otherwise a new text is copied from it, as
 * when a token changes. Copying each text takes a third more CPU on the mix of `bench -- api`
 * (`infra/decisions/bench-results.md`). The texts take at most `maxBytes`; the least recently
 * requested wallets are evicted first.
 */
export class WalletHoldingsText {
  readonly #held: HeldRows
  readonly #known: LRUCache<number, Rendered>

  constructor(held: HeldRows, maxBytes: number) {
    this.#held = held
    this.#known = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ text }) => text.length })
  }

  /** Renders the response with `walletHoldingItem` of each row, as of block time `now`. */
  render(wallet: number, now: number): JsonText {
    let current = this.#known.get(wallet)
    if (current?.marker !== this.#held.marker) {
      const rows = this.#held.ofWallet(wallet)
      if (current === undefined || !isAged(current, this.#held, rows, now)) {
        current = rendered(wallet, this.#held, rows, now, current)
        this.#known.set(wallet, current)
      }
    }
    const { text } = current
    current.lent++
    current.digest ??= digestOf(text)
    return new JsonText(text, current.digest, () => {
      current.lent--
    })
  }
}

interface Rendered {
  /** Number of the marker of the text. */
  marker: number
  now: number
  readonly rows: Uint32Array
  readonly text: Buffer
  /** Digest of the text; null until it is needed. */
  digest: string | null
  /** Number of responses that are being sent from the text. */
  lent: number
  /** Where each row begins in `text`, and where its age begins. */
  readonly starts: Uint32Array
  readonly ages: Uint32Array
}

/**
 * Overwrites the ages in the text with those at `now`. Returns false if the rows changed, a
 * response is being sent from the text, or an age has another number of digits: the text must be
 * rendered.
 */
function isAged(known: Rendered, held: HeldRows, rows: Uint32Array, now: number): boolean {
  const { starts, ages, text, marker } = known
  if (rows.length !== ages.length) return false
  if (rows.some((row, at) => row !== known.rows[at] || held.changedAt(row) > marker)) return false
  if (known.now !== now) {
    if (known.lent > 0) return false
    for (let index = 0; index < ages.length; index++) {
      let age = now - held.firstTradeTime(rows[index]!)
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
  }
  known.marker = held.marker
  return true
}

const ZERO = '0'.charCodeAt(0)

function rendered(
  wallet: number,
  held: HeldRows,
  rows: Uint32Array,
  now: number,
  known?: Rendered,
): Rendered {
  const head = `{"wallet":"${aliasOf(wallet)}","tokens":[`
  const knownAt = new Map(Array.from(known?.rows ?? [], (row, at) => [row, at]))
  let size = head.length + ']}'.length
  const beginnings = Array.from(rows, (row) => {
    const at = knownAt.get(row)
    const isKnown = known !== undefined && at !== undefined && held.changedAt(row) <= known.marker
    const text = isKnown
      ? known.text.subarray(known.starts[at], known.ages[at])
      : beginning(held.row(row))
    size += text.length + MOST_DIGITS + '}},'.length
    return text
  })
  const text = Buffer.allocUnsafe(size)
  const starts = new Uint32Array(rows.length)
  const ages = new Uint32Array(rows.length)
  let end = text.write(head, 'latin1')
  for (const [index, begun] of beginnings.entries()) {
    if (index > 0) end += text.write(',', end, 'latin1')
    starts[index] = end
    end += begun.copy(text, end)
    ages[index] = end
    end += text.write(`${now - held.firstTradeTime(rows[index]!)}}}`, end, 'latin1')
  }
  end += text.write(']}', end, 'latin1')
  const { marker } = held
  return { marker, now, rows, text: text.subarray(0, end), digest: null, lent: 0, starts, ages }
}

/** Returns the text of a row up to its age, which is the last field of its last object. */
function beginning(row: HeldPositionRow): Buffer {
  const text = JSON.stringify(walletHoldingItem(row, row.first_trade_time))
  return Buffer.from(text.slice(0, -'0}}'.length))
}

/** Largest number of characters of an age in seconds, with its sign. */
const MOST_DIGITS = 11
