import { LRUCache } from 'lru-cache'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { JsonBytes } from '../rendered-answer.ts'
import type { HeldRows } from './held-rows.ts'
import { walletHoldingItem } from './holding.ts'

/**
 * Renders what a wallet holds as the JSON text of `GET /wallets/{alias}/holdings`. Block time
 * changes only the ages of the rows, so the text of each row up to its age is cached, for the most
 * recently requested wallets whose texts take at most `maxBytes`.
 */
export class WalletHoldingsText {
  readonly #cached: LRUCache<number, RowTexts>

  constructor(maxBytes: number) {
    this.#cached = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ texts }) => Math.max(1, texts.length),
    })
  }

  /** Renders the response with `walletHoldingItem` of each row, as of block time `now`. */
  render(wallet: number, rows: HeldRows, now: number): JsonBytes {
    const { texts, ends } = this.#rowTexts(wallet, rows)
    const head = `{"wallet":"${aliasOf(wallet)}","tokens":[`
    const bytes = Buffer.allocUnsafe(head.length + texts.length + ends.length * MAX_TAIL + 2)
    let at = bytes.write(head, 'latin1')
    for (const [index, end] of ends.entries()) {
      if (index > 0) bytes[at++] = COMMA
      at += texts.copy(bytes, at, ends[index - 1] ?? 0, end)
      at += bytes.write(`${now - rows.firstTradeTime(index)}}}`, at, 'latin1')
    }
    at += bytes.write(']}', at, 'latin1')
    return new JsonBytes(bytes.subarray(0, at))
  }

  #rowTexts(wallet: number, rows: HeldRows): RowTexts {
    const { serials } = rows
    const cached = this.#cached.get(wallet)
    if (cached?.serials === serials) return cached
    const indexes = new Map(cached?.serials.map((serial, index) => [serial, index]))
    const parts = serials.map((serial, index) => {
      const known = indexes.get(serial)
      if (cached === undefined || known === undefined) return rowText(rows, index)
      return cached.texts.subarray(cached.ends[known - 1] ?? 0, cached.ends[known])
    })
    let end = 0
    const ends = Uint32Array.from(parts, ({ length }) => (end += length))
    const made = { serials, texts: Buffer.concat(parts), ends }
    this.#cached.set(wallet, made)
    return made
  }
}

/** The text of each row up to its age, which is the last field of its last object. */
interface RowTexts {
  readonly serials: readonly number[]
  /** The texts, one after the other. */
  readonly texts: Buffer
  /** Where each text ends. */
  readonly ends: Uint32Array
}

const COMMA = 0x2c
/** Longest text after a row's cached part: an age in seconds with its sign, and `}},`. */
const MAX_TAIL = 11 + '}},'.length

function rowText(rows: HeldRows, index: number): Buffer {
  const row = rows.row(index)
  const text = JSON.stringify(walletHoldingItem(row, row.first_trade_time))
  return Buffer.from(text.slice(0, -'0}}'.length))
}
