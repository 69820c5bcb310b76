import { aliasOf } from '../../pipeline/domain/alias.ts'
import type { HeldPositionRow } from '../../pipeline/store/tables/positions.ts'
import { digestOf, JsonText } from '../rendered-answer.ts'
import type { HeldRows } from './held-rows.ts'
import { walletHoldingItem } from './holding.ts'

/**
 * Renders what a wallet holds as the JSON text of `GET /wallets/{alias}/holdings`. A wallet may
 * hold thousands of tokens, and block time changes only their ages. So the last text is cached,
 * and its ages are overwritten once nobody reads it. Otherwise a new text is copied from it, as
 * when a token changes. Copying each text takes a third more CPU on the mix of `bench -- api`
 * (`infra/decisions/bench-results.md`). The texts take at most `maxBytes`; the least recently
 * requested wallets are evicted first.
 */
export class WalletHoldingsText {
  readonly #maxBytes: number
  /** By wallet, the least recently requested first. */
  readonly #known = new Map<number, Rendered>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Renders the response with `walletHoldingItem` of each row, as of block time `now`. */
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

/** Returns the text of a row up to its age, which is the last field of its last object. */
function beginning(row: HeldPositionRow): Buffer {
  const text = JSON.stringify(walletHoldingItem(row, row.first_trade_time))
  return Buffer.from(text.slice(0, -'0}}'.length))
}

/** Largest number of characters of an age in seconds, with its sign. */
const MOST_DIGITS = 11
