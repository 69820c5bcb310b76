import type { Address } from '../../pipeline/domain/address.ts'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import { WSOL } from '../../pipeline/domain/quote.ts'
import { Rational } from '../../pipeline/testing/rational.ts'
import { slowValue } from '../../pipeline/testing/slow-events.ts'
import {
  type SlowPriceInputs,
  slowSolPrice,
  slowTokenPrice,
} from '../../pipeline/testing/slow-prices.ts'
import {
  addedFields,
  type FactsByMint,
  type Item,
  inSol,
  isHeld,
  oneAnswer,
  pctHeld,
  type SlowAnswer,
  sumOfValues,
  type Traded,
  totalOf,
  tradedOf,
} from './slow-answer.ts'

/** What the answers about a token follow from. */
export interface TokenInputs {
  /** All its swaps, of every wallet, in order of the event key, each with its price. */
  readonly swaps: readonly Swap[]
  readonly prices: SlowPriceInputs
  readonly facts: FactsByMint
  /** Block time of the newest stored slot. */
  readonly now: number
}

/** What every resource of one token must answer (rules C15, L3, L9). */
export function slowTokenAnswers(mint: Address, inputs: TokenInputs): SlowAnswer[] {
  const { swaps, facts } = inputs
  const traded = [...new Set(swaps.map(({ wallet }) => wallet))].flatMap(
    (wallet) => tradedOf(wallet, mint, swaps) ?? [],
  )
  const rows = traded.toSorted(byFirstBuy)
  return [
    {
      path: `/tokens/${mint}/swaps?limit=50`,
      paging: 'cursor',
      fields: { mint },
      items: swaps.toReversed().map((swap) => ({ ...swapItem(swap), ...addedFields(swap, facts) })),
    },
    oneAnswer(`/tokens/${mint}`, tokenItem(mint, traded, inputs)),
    oneAnswer(`/tokens/${mint}/wallet-aggregates`, {
      mint,
      tracked_wallets: rows.length,
      wallets: rows.map((row) => aggregateItem(row, facts.get(mint)?.supply ?? null)),
    }),
  ]
}

function tokenItem(
  mint: Address,
  traded: readonly Traded[],
  { swaps, prices, facts, now }: TokenInputs,
): Item {
  const sol = slowSolPrice(prices, now)
  const { supply = null, symbol = '', name = '' } = facts.get(mint) ?? {}
  const holders = traded.filter(isHeld)
  const held = new Rational(totalOf(holders.map(({ bought, sold }) => bought - sold)))
  const decimals = traded[0]?.decimals ?? 0
  const found = slowTokenPrice(prices, mint, null, now)
  const price = found?.price.per(new Rational(10n ** 9n)) ?? null
  const whole = price?.times(new Rational(10n ** BigInt(decimals))) ?? null
  const all = supply === null ? null : new Rational(supply)
  const buys = traded.flatMap((position) => position.buys.map(({ blockTime }) => blockTime))
  const activity = (seconds: number) => {
    const some = swaps.filter(({ blockTime }) => blockTime > now - seconds && blockTime <= now)
    return {
      buys: some.filter(({ side }) => side === 'buy').length,
      sells: some.filter(({ side }) => side === 'sell').length,
      volume_sol: inSol(sumOfValues(some)),
      wallets: new Set(some.map(({ wallet }) => wallet)).size,
    }
  }
  return {
    token: {
      address: mint,
      decimals,
      symbol: symbol || null,
      name: name || null,
      supply: supply === null ? null : String(supply),
    },
    as_of: now,
    price_sol: whole?.toNumber() ?? null,
    price_usd: (sol && whole?.times(sol).toNumber()) ?? null,
    price_source: found?.source ?? null,
    price_age_seconds: found === null ? null : now - found.time,
    market_cap_usd: (sol && all && price?.times(sol).times(all).toNumber()) ?? null,
    holders: holders.length,
    holders_pct: supply ? held.times(new Rational(100)).per(new Rational(supply)).toNumber() : null,
    first_buy_at: buys.length === 0 ? null : Math.min(...buys),
    last_1h: activity(3600),
    last_24h: activity(86_400),
  }
}

function swapItem(swap: Swap): Item {
  return {
    block_time: swap.blockTime,
    wallet: aliasOf(swap.wallet),
    side: swap.side,
    base_mint: swap.baseMint,
    base_amount: String(swap.baseAmount),
    base_decimals: swap.baseDecimals,
    quote_mint: swap.quoteMint ?? WSOL,
    quote_amount: String(swap.quoteAmount),
    program: swap.program,
    confidence: swap.confidence,
    quote_mismatch: swap.quoteMismatch,
  }
}

function aggregateItem(position: Traded, supply: bigint | null): Item {
  const { wallet, buys, sells, bought, sold, spent, received, last } = position
  return {
    wallet: aliasOf(wallet),
    alias: aliasOf(wallet),
    buys: buys.length,
    sells: sells.length,
    base_bought: String(bought),
    base_sold: String(sold),
    base_net: String(bought - sold),
    sol_in: inSol(spent),
    sol_out: inSol(received),
    pct_held: pctHeld(position),
    first_buy_time: buys[0]?.blockTime ?? null,
    last_trade_time: last,
    entry_mcap: entryMcap(buys[0], supply),
  }
}

/** Supply x price in USD of the first buy (rule C15). */
function entryMcap(buy: Swap | undefined, supply: bigint | null): number | null {
  if (buy === undefined || supply === null || buy.baseAmount === 0n) return null
  const value = slowValue(buy)
  if (value === null || buy.solPriceUsdE9 === null) return null
  const price = new Rational(value, 10n ** 9n).per(new Rational(buy.baseAmount))
  const usd = new Rational(buy.solPriceUsdE9, 10n ** 9n)
  return price.times(usd).times(new Rational(supply)).toNumber()
}

/** Order of wallet aggregates (rule C17). */
function byFirstBuy(a: Traded, b: Traded): number {
  const time = ({ buys }: Traded) => buys[0]?.blockTime ?? Number.POSITIVE_INFINITY
  return Math.sign(time(a) - time(b)) || a.wallet - b.wallet
}
