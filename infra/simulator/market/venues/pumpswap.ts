import { byteWriter } from '../byte-writer.ts'
import { associatedTokenAccount, derivedKey, type Key, wellKnown } from '../key.ts'
import { transferTokenChecked, WSOL_TOKEN } from '../native.ts'
import { ASSOCIATED_TOKEN, SYSTEM, TOKEN } from '../programs.ts'
import {
  type AccountMeta,
  readonly,
  type TransactionBuilder,
  writable,
  writableSigner,
} from '../transaction-builder.ts'
import { reservesAt } from '../universe.ts'
import {
  feeOf,
  lookupTableOf,
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
    lookupTableOf(coin, () => [
      GLOBAL_CONFIG,
      EVENT_AUTHORITY,
      GLOBAL_VOLUME,
      FEE_CONFIG,
      FEE_PROGRAM,
      FEE_RECIPIENT,
      BUYBACK_RECIPIENT,
      protocolAccount(),
      buybackAccount(),
      ASSOCIATED_TOKEN,
      coin.key('pool'),
      coin.key('vault-base'),
      coin.key('vault-quote'),
    ]),
  plan: (order) => (order.side === 'buy' ? buy(order) : sell(order)),
}

function buy(order: SwapOrder): PlannedSwap {
  const { coin, slot } = order
  const exact = slot % 2 === 0
  const reserves = reservesAt(coin, slot)
  const total = order.amount
  const taken = 10_000n + LP_BPS + PROTOCOL_BPS + CREATOR_BPS
  const rough = (total * 10_000n) / taken
  const protocolFee = feeOf(rough, PROTOCOL_BPS)
  const creatorFee = feeOf(rough, CREATOR_BPS)
  const toPool = total - protocolFee - creatorFee
  const lpFee = feeOf(rough, LP_BPS)
  const net = toPool - lpFee
  const base = (reserves.base * net) / (reserves.quote + net)
  const accounts: AccountMeta[] = [
    ...commonAccounts(order),
    readonly(GLOBAL_VOLUME),
    writable(derivedKey(0, `swap-volume/${order.trader.address}`)),
    readonly(FEE_CONFIG),
    readonly(FEE_PROGRAM),
    readonly(coin.key('pool-v2')),
    readonly(BUYBACK_RECIPIENT),
    writable(buybackAccount()),
  ]
  const least = (base * 99n) / 100n
  const data = exact
    ? byteWriter(25).hex('c62e1552b4d9e870').u64(total).u64(least).u8(0)
    : byteWriter(25)
        .hex('66063d1201daebea')
        .u64(base)
        .u64((total * 102n) / 100n)
        .u8(0)
  const record = (tx: TransactionBuilder) =>
    tx.call(
      PUMPSWAP_PROGRAM,
      accounts,
      data.done(),
      () => {
        const userBase = tx.token(order.base)!.amount
        const userQuote = tx.token(order.quote)!.amount
        tx.log(`Instruction: ${exact ? 'BuyExactQuoteIn' : 'Buy'}`)
        getFees(tx, FEE_CONFIG, PUMPSWAP_PROGRAM, reserves.quote, net)
        if (order.refuse) refuse(tx, 'ExceededSlippage', EXCEEDED_SLIPPAGE)
        transferTokenChecked(tx, coin.key('vault-base'), order.base, coin.key('pool'), base)
        transferTokenChecked(tx, order.quote, coin.key('vault-quote'), order.trader, toPool)
        transferTokenChecked(
          tx,
          order.quote,
          protocolAccount(),
          order.trader,
          protocolFee - protocolFee / 2n,
        )
        transferTokenChecked(tx, order.quote, coin.key('creator-account'), order.trader, creatorFee)
        transferTokenChecked(tx, order.quote, buybackAccount(), order.trader, protocolFee / 2n)
        const event = byteWriter(480)
          .hex('67f4521f2cf57777')
          .u64(order.time)
          .u64(base)
          .u64(total)
          .u64(userBase)
          .u64(userQuote)
          .u64(reserves.base)
          .u64(reserves.quote)
          .u64(exact ? total : net)
          .u64(LP_BPS)
          .u64(lpFee)
          .u64(PROTOCOL_BPS)
          .u64(protocolFee)
          .u64(toPool)
          .u64(exact ? net : total)
          .raw(eventKeys(order))
          .u64(CREATOR_BPS)
          .u64(creatorFee)
          .bool(false)
          .u64(0)
          .u64(0)
          .u64(0)
          .u64(0)
          .u64(exact ? least : base)
          .text(exact ? 'buy_exact_quote_in' : 'buy')
          .u64(0)
          .u64(0)
          .u64(5_000)
          .u64(protocolFee / 2n)
          .done()
        emitEvent(tx, PUMPSWAP_PROGRAM, EVENT_AUTHORITY, event)
      },
      38_000,
    )
  return { program: PUMPSWAP_PROGRAM, accounts, fill: { base, quote: total }, record }
}

function sell(order: SwapOrder): PlannedSwap {
  const { coin, slot } = order
  const reserves = reservesAt(coin, slot)
  const base = order.amount
  const gross = (reserves.quote * base) / (reserves.base + base)
  const lpFee = feeOf(gross, LP_BPS)
  const protocolFee = feeOf(gross, PROTOCOL_BPS)
  const creatorFee = feeOf(gross, CREATOR_BPS)
  const fromPool = gross - lpFee
  const quote = fromPool - protocolFee - creatorFee
  const accounts: AccountMeta[] = [
    ...commonAccounts(order),
    readonly(FEE_CONFIG),
    readonly(FEE_PROGRAM),
    readonly(coin.key('pool-v2')),
    readonly(BUYBACK_RECIPIENT),
    writable(buybackAccount()),
  ]
  const least = (quote * 97n) / 100n
  const data = byteWriter(24).hex('33e685a4017f83ad').u64(base).u64(least).done()
  const record = (tx: TransactionBuilder) =>
    tx.call(
      PUMPSWAP_PROGRAM,
      accounts,
      data,
      () => {
        const userBase = tx.token(order.base)!.amount
        const userQuote = tx.token(order.quote)!.amount
        tx.log('Instruction: Sell')
        getFees(tx, FEE_CONFIG, PUMPSWAP_PROGRAM, reserves.quote, gross)
        if (order.refuse) refuse(tx, 'ExceededSlippage', EXCEEDED_SLIPPAGE)
        const pool = coin.key('pool')
        transferTokenChecked(tx, order.base, coin.key('vault-base'), order.trader, base)
        transferTokenChecked(tx, coin.key('vault-quote'), order.quote, pool, quote)
        transferTokenChecked(
          tx,
          coin.key('vault-quote'),
          protocolAccount(),
          pool,
          protocolFee - protocolFee / 2n,
        )
        transferTokenChecked(
          tx,
          coin.key('vault-quote'),
          coin.key('creator-account'),
          pool,
          creatorFee,
        )
        transferTokenChecked(tx, coin.key('vault-quote'), buybackAccount(), pool, protocolFee / 2n)
        const event = byteWriter(400)
          .hex('3e2f370aa503dc2a')
          .u64(order.time)
          .u64(base)
          .u64(least)
          .u64(userBase)
          .u64(userQuote)
          .u64(reserves.base)
          .u64(reserves.quote)
          .u64(gross)
          .u64(LP_BPS)
          .u64(lpFee)
          .u64(PROTOCOL_BPS)
          .u64(protocolFee)
          .u64(fromPool)
          .u64(quote)
          .raw(eventKeys(order))
          .u64(CREATOR_BPS)
          .u64(creatorFee)
          .u64(0)
          .u64(0)
          .u64(5_000)
          .u64(protocolFee / 2n)
          .done()
        emitEvent(tx, PUMPSWAP_PROGRAM, EVENT_AUTHORITY, event)
      },
      36_000,
    )
  return { program: PUMPSWAP_PROGRAM, accounts, fill: { base, quote }, record }
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

/** The seven keys in both events: pool, user, user's accounts, fee recipient and its account, creator. */
function eventKeys(order: SwapOrder): Buffer {
  return Buffer.concat(
    [
      order.coin.key('pool'),
      order.trader,
      order.base,
      order.quote,
      FEE_RECIPIENT,
      protocolAccount(),
      order.coin.key('creator'),
    ].map((key) => key.bytes),
  )
}

function protocolAccount(): Key {
  return associatedTokenAccount(FEE_RECIPIENT, WSOL_TOKEN.key, TOKEN)
}

function buybackAccount(): Key {
  return associatedTokenAccount(BUYBACK_RECIPIENT, WSOL_TOKEN.key, TOKEN)
}
