import { LRUCache } from 'lru-cache'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { JsonText } from '../rendered-answer.ts'
import type { HeldRows } from './held-rows.ts'
import { walletHoldingItem } from './holding.ts'

/**
 * Renders what a wallet holds as the JSON text of `GET /wallets/{alias}/holdings`. Block time
 * changes only the ages of the rows, so the text of each row up to its age is cached, for the most
 * recently requested wallets whose texts take at most `maxBytes`.
 */
export class WalletHoldingsText {
  readonly #cached: LRUCache<number, CachedRows>

  constructor(maxBytes: number) {
    this.#cached = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => bytes })
  }

  /** Renders the answer with `walletHoldingItem` of each row, as of block time `now`. */
  render(wallet: number, rows: HeldRows, now: number): JsonText {
    const tokens = this.#rowTexts(wallet, rows).map(
      (text, index) => `${text}${now - rows.firstTradeTime(index)}}}`,
    )
    return new JsonText(`{"wallet":"${aliasOf(wallet)}","tokens":[${tokens.join(',')}]}`)
  }

  /** Returns the text of each row up to its age, which is the last field of its last object. */
  #rowTexts(wallet: number, rows: HeldRows): readonly string[] {
    const { serials } = rows
    const cached = this.#cached.get(wallet)
    if (cached?.serials === serials) return cached.texts
    const bySerial = new Map(cached?.serials.map((serial, index) => [serial, cached.texts[index]]))
    const texts = serials.map((serial, index) => bySerial.get(serial) ?? rowText(rows, index))
    const bytes = texts.reduce((sum, text) => sum + text.length, 1)
    this.#cached.set(wallet, { serials, texts, bytes })
    return texts
  }
}

interface CachedRows {
  readonly serials: readonly number[]
  /** JSON text of each row, up to its age. */
  readonly texts: readonly string[]
  readonly bytes: number
}

function rowText(rows: HeldRows, index: number): string {
  const row = rows.row(index)
  return JSON.stringify(walletHoldingItem(row, row.first_trade_time)).slice(0, -'0}}'.length)
}
