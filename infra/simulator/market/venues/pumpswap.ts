import { byteWriter } from '../byte-writer.ts'
import { associatedTokenAccount, type Key, rememberedKey, wellKnown } from '../key.ts'
import { transferTokenChecked, WSOL_TOKEN } from '../native.ts'
import { ASSOCIATED_TOKEN, SYSTEM, TOKEN } from '../programs.ts'
import {
  type AccountMeta,
  readonly,
  type TransactionBuilder,
  writable,
  writableSigner,
} from '../transaction-builder.ts'
import { type Coin, reservesAt } from '../universe.ts'
import {
  feeOf,
  lookupTable,
  type PlannedSwap,
  poolVaults,
  type SwapOrder,
  type Venue,
  vault,
} from './pool.ts'
import { emitEvent, FEE_PROGRAM, getFees, refuse } from './pumpfun.ts'

/** PumpSwap, pump.fun's constant-product pools. */
export const PUMPSWAP_PROGRAM = wellKnown('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA')
const GLOBAL_CONFIG = wellKnown('ADyA8hdefvWN2dbGGWFotbzWxrAvLW83WG6QCVXvJKqw')
const EVENT_AUTHORITY = wellKnown('GS4CU59F31iL7aR2Q8zVS8DRrcRnXX1yjQ66TqNVQnaR')
const GLOBAL_VOLUME = wellKnown('C2aFPdENg4A2HQsmrd5rTw5TaYBX5Ku887cWjbFKtZpw')
const FEE_CONFIG = wellKnown('5PHirr8joyTMp9JMm6nW7hNDVyEYdkzDqazxPD7RaTjx')
const FEE_RECIPIENT = wellKnown('62qc2CNXwrYqQScmEdiZFFAnJR262PxWEuNQtxfafNgV')
const BUYBACK_RECIPIENT = wellKnown('5eHhjP8JaYkz83CWwvGU2uMUXefd3AazWGx4gpcuEEYD')

const LP_BPS = 20n
const PROTOCOL_BPS = 5n
const CREATOR_BPS = 5n
const EXCEEDED_SLIPPAGE = 6_004

/**
 * PumpSwap as of 2026: `buy` and `buy_exact_quote_in` (26 accounts), `sell` (24 accounts). Fees are
 * taken on the quote side and paid to the protocol, the coin's creator and the buyback; `BuyEvent`
 * or `SellEvent` is logged and emitted by a self-call. Layouts: the program's IDL and mainnet.
 */
export const pumpswapVenue: Venue = {
  accounts: (coin) => [
    ...poolVaults(coin, coin.key('pool')),
    vault(protocolAccount(), WSOL_TOKEN, FEE_RECIPIENT, () => 1_716_091_254_392n),
    vault(buybackAccount(), WSOL_TOKEN, BUYBACK_RECIPIENT, () => 321_765_691n),
    vault(
      coin.key('creator-account'),
      WSOL_TOKEN,
      coin.key('creator-authority'),
      () => 16_793_172_269n,
    ),
  ],
  table: (coin) =>
    lookupTable(
      coin,
      [
        ...[GLOBAL_CONFIG, EVENT_AUTHORITY, GLOBAL_VOLUME, FEE_CONFIG, FEE_PROGRAM, FEE_RECIPIENT],
        ...[BUYBACK_RECIPIENT, protocolAccount(), buybackAccount(), ASSOCIATED_TOKEN],
      ],
      ['pool', 'vault-base', 'vault-quote'],
    ),
  plan: (order) => (order.side === 'buy' ? buy(order) : sell(order)),
}

function buy(order: SwapOrder): PlannedSwap {
  const { coin, slot, amount: total } = order
  const exact = slot % 2 === 0
  const reserves = reservesAt(coin, slot)
  const rough = (total * 10_000n) / (10_000n + LP_BPS + PROTOCOL_BPS + CREATOR_BPS)
  const fees = feesOf(rough)
  const toPool = total - fees.protocol - fees.creator
  const net = toPool - fees.lp
  const base = (reserves.base * net) / (reserves.quote + net)
  const least = (base * 99n) / 100n
  const instruction = exact ? 'c62e1552b4d9e870' : '66063d1201daebea'
  const limits = exact ? [total, least] : [base, (total * 102n) / 100n]
  return {
    program: PUMPSWAP_PROGRAM,
    accounts: [
      ...commonAccounts(order),
      readonly(GLOBAL_VOLUME),
      writable(rememberedKey(`swap-volume/${order.trader.address}`)),
      ...lastAccounts(coin),
    ],
    data: byteWriter(25)
      .hex(instruction)
      .u64(...limits)
      .u8(0)
      .done(),
    fill: { base, quote: total },
    units: 38_000,
    run(tx) {
      const held = [tx.token(order.base)!.amount, tx.token(order.quote)!.amount]
      tx.log(`Instruction: ${exact ? 'BuyExactQuoteIn' : 'Buy'}`)
      getFees(tx, FEE_CONFIG, PUMPSWAP_PROGRAM, reserves.quote, net)
      if (order.refuse) refuse(tx, 'ExceededSlippage', EXCEEDED_SLIPPAGE)
      transferTokenChecked(tx, coin.key('vault-base'), order.base, coin.key('pool'), base)
      transferTokenChecked(tx, order.quote, coin.key('vault-quote'), order.trader, toPool)
      payFees(tx, coin, fees, order.quote, order.trader)
      const event = byteWriter(480)
        .hex('67f4521f2cf57777')
        .u64(order.time, base, total, ...held, reserves.base, reserves.quote)
        .u64(exact ? total : net, LP_BPS, fees.lp, PROTOCOL_BPS, fees.protocol)
        .u64(toPool, exact ? net : total)
        .key(...eventKeys(order))
        .u64(CREATOR_BPS, fees.creator)
        .bool(false)
        .u64(0, 0, 0, 0, exact ? least : base)
        .text(exact ? 'buy_exact_quote_in' : 'buy')
        .u64(0, 0, 5_000, fees.protocol / 2n)
        .done()
      emitEvent(tx, PUMPSWAP_PROGRAM, EVENT_AUTHORITY, event)
    },
  }
}

function sell(order: SwapOrder): PlannedSwap {
  const { coin, slot, amount: base } = order
  const reserves = reservesAt(coin, slot)
  const gross = (reserves.quote * base) / (reserves.base + base)
  const fees = feesOf(gross)
  const fromPool = gross - fees.lp
  const quote = fromPool - fees.protocol - fees.creator
  const least = (quote * 97n) / 100n
  return {
    program: PUMPSWAP_PROGRAM,
    accounts: [...commonAccounts(order), ...lastAccounts(coin)],
    data: byteWriter(24).hex('33e685a4017f83ad').u64(base, least).done(),
    fill: { base, quote },
    units: 36_000,
    run(tx) {
      const held = [tx.token(order.base)!.amount, tx.token(order.quote)!.amount]
      tx.log('Instruction: Sell')
      getFees(tx, FEE_CONFIG, PUMPSWAP_PROGRAM, reserves.quote, gross)
      if (order.refuse) refuse(tx, 'ExceededSlippage', EXCEEDED_SLIPPAGE)
      const [pool, vaultQuote] = [coin.key('pool'), coin.key('vault-quote')]
      transferTokenChecked(tx, order.base, coin.key('vault-base'), order.trader, base)
      transferTokenChecked(tx, vaultQuote, order.quote, pool, quote)
      payFees(tx, coin, fees, vaultQuote, pool)
      const event = byteWriter(400)
        .hex('3e2f370aa503dc2a')
        .u64(order.time, base, least, ...held, reserves.base, reserves.quote)
        .u64(gross, LP_BPS, fees.lp, PROTOCOL_BPS, fees.protocol, fromPool, quote)
        .key(...eventKeys(order))
        .u64(CREATOR_BPS, fees.creator, 0, 0, 5_000, fees.protocol / 2n)
        .done()
      emitEvent(tx, PUMPSWAP_PROGRAM, EVENT_AUTHORITY, event)
    },
  }
}

interface Fees {
  readonly lp: bigint
  readonly protocol: bigint
  readonly creator: bigint
}

function feesOf(quote: bigint): Fees {
  const [lp, protocol, creator] = [LP_BPS, PROTOCOL_BPS, CREATOR_BPS].map((bps) =>
    feeOf(quote, bps),
  ) as [bigint, bigint, bigint]
  return { lp, protocol, creator }
}

/** Pays the fees that do not stay in the pool; half of the protocol's is for the buyback. */
function payFees(tx: TransactionBuilder, coin: Coin, fees: Fees, from: Key, authority: Key): void {
  const buyback = fees.protocol / 2n
  transferTokenChecked(tx, from, protocolAccount(), authority, fees.protocol - buyback)
  transferTokenChecked(tx, from, coin.key('creator-account'), authority, fees.creator)
  transferTokenChecked(tx, from, buybackAccount(), authority, buyback)
}

/** The first 19 accounts of all three instructions. */
function commonAccounts(order: SwapOrder): AccountMeta[] {
  const { coin } = order
  return [
    writable(coin.key('pool')),
    writableSigner(order.trader),
    readonly(GLOBAL_CONFIG),
    readonly(coin.mint.key),
    readonly(coin.quote.key),
    writable(order.base),
    writable(order.quote),
    writable(coin.key('vault-base')),
    writable(coin.key('vault-quote')),
    readonly(FEE_RECIPIENT),
    writable(protocolAccount()),
    readonly(coin.mint.program),
    readonly(coin.quote.program),
    readonly(SYSTEM),
    readonly(ASSOCIATED_TOKEN),
    readonly(EVENT_AUTHORITY),
    readonly(PUMPSWAP_PROGRAM),
    writable(coin.key('creator-account')),
    readonly(coin.key('creator-authority')),
  ]
}

/** The last 5 accounts of all three instructions. */
function lastAccounts(coin: Coin): AccountMeta[] {
  return [
    ...[FEE_CONFIG, FEE_PROGRAM, coin.key('pool-v2'), BUYBACK_RECIPIENT].map(readonly),
    writable(buybackAccount()),
  ]
}

/** The seven account keys that a buy event and a sell event both have. */
function eventKeys({ coin, trader, base, quote }: SwapOrder): Key[] {
  const creator = coin.key('creator')
  return [coin.key('pool'), trader, base, quote, FEE_RECIPIENT, protocolAccount(), creator]
}

function protocolAccount(): Key {
  return associatedTokenAccount(FEE_RECIPIENT, WSOL_TOKEN.key, TOKEN)
}

function buybackAccount(): Key {
  return associatedTokenAccount(BUYBACK_RECIPIENT, WSOL_TOKEN.key, TOKEN)
}
