import type { Side } from '../../../pipeline/domain/event.ts'
import { byteWriter } from './byte-writer.ts'
import { associatedTokenAccount, derivedKey, type Key, wellKnown } from './key.ts'
import {
  closeAccount,
  createAccount,
  createAssociatedAccount,
  initializeAccount3,
  openSeededWsol,
  syncNative,
  transferSol,
  transferToken,
  WSOL_TOKEN,
  wsolAccount,
} from './native.ts'
import { SYSTEM, TOKEN, TOKEN_ACCOUNT_RENT, USDC_MINT, WSOL_MINT } from './programs.ts'
import {
  addTip,
  beginTransaction,
  finishTransaction,
  type MarketAction,
  type MarketScene,
} from './scene.ts'
import {
  type AccountMeta,
  type Mint,
  readonly,
  signer,
  type TransactionBuilder,
  writable,
  writableSigner,
} from './transaction-builder.ts'
import type { Intent } from './truth.ts'
import {
  type Coin,
  poolKeyOf,
  priceAt,
  USDC_TOKEN,
  usdcAccountOf,
  type VenueName,
  type Wallet,
} from './universe.ts'
import { type PlannedSwap, recordSwap, type SwapFill } from './venues/pool.ts'
import { VENUES } from './venues/registry.ts'

/** Fee that a trading terminal charges for a swap against SOL: 1% (rule B13a). */
const TERMINAL_FEE_PERCENT = 1n
const TERMINAL = wellKnown('9yMwSPk9mrXSN7yDHUuZurAh1sjbJsfpUqjZ7SvVtdco')
const JUPITER = wellKnown('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4')
const JUPITER_EVENTS = wellKnown('D8cy77BBepLMngZx6ZukaTff5hCt1HrWyKk3Hnd9oitf')
const JUPITER_RFQ = wellKnown('61DFfeTKM7trxYcPQCM78bJ794ddZprZpAwAnLiwTpYH')
/** A program in no table, whose swaps are recognised by their balance changes alone (rule B10). */
const PRIVATE_PROGRAM = derivedKey(0, 'private-program')

/**
 * Buys or sells a coin on its venue. `amount` is raw quote units of a buy, raw base units of a
 * sell. A sale of everything closes the account.
 */
export function swapOnVenue(
  scene: MarketScene,
  wallet: Wallet,
  coin: Coin,
  side: Side,
  amount: bigint,
  refuse = false,
): MarketAction {
  const { slot, time } = scene
  const trader = wallet.key
  const tx = beginTransaction(scene, trader)
  const base = holdingOf(tx, trader, coin.mint, side)
  const all = isAll(scene, base, side, amount)
  const native = coin.venue === 'pumpfun'
  const purse = native
    ? { account: base, close: () => {} }
    : openPurse(tx, scene, trader, coin.quote, side === 'buy' ? amount : 0n)
  const venue = VENUES[coin.venue]
  const order = { coin, side, trader, base, quote: purse.account, amount, slot, time, refuse }
  const planned = venue.plan(order)
  recordSwap(tx, planned)
  purse.close()
  if (all) closeAccount(tx, base, trader, trader)
  const feeLamports = takeFees(tx, scene, trader, coin.quote, planned.fill.quote)
  const draft = finishTransaction(tx, scene, [venue.table(coin)])
  if (draft.failure !== null) return { draft, intents: [] }
  const by = { program: coin.venue, programId: planned.program }
  return { draft, intents: [swap(wallet, side, coin, planned.fill, coin.quote, by, feeLamports)] }
}

/** Returns a trader's token account of a mint. A buy creates the account if it does not exist. */
function holdingOf(tx: TransactionBuilder, trader: Key, mint: Mint, side: Side): Key {
  return side === 'buy'
    ? createAssociatedAccount(tx, trader, trader, mint)
    : associatedTokenAccount(trader, mint.key, mint.program)
}

/** Whether a swap sells everything that an account holds. */
function isAll(scene: MarketScene, account: Key, side: Side, amount: bigint): boolean {
  return side === 'sell' && scene.ledger.tokenAccount(account)!.amount === amount
}

/**
 * Occasionally adds a terminal's fee (for swaps against SOL) and a tip. Returns the fee in
 * lamports.
 */
function takeFees(
  tx: TransactionBuilder,
  scene: MarketScene,
  trader: Key,
  quote: Mint,
  quoteAmount: bigint,
): bigint {
  const charged = quote.key === WSOL_MINT && scene.random.chance(0.2)
  const fee = charged ? (quoteAmount * TERMINAL_FEE_PERCENT) / 100n : 0n
  if (fee > 0n) transferSol(tx, trader, TERMINAL, fee)
  if (scene.random.chance(0.3)) addTip(tx, scene, trader)
  return fee
}

function swap(
  wallet: Wallet,
  side: Side,
  coin: Coin,
  fill: SwapFill,
  quote: Mint,
  by: { readonly program: string; readonly programId: Key },
  feeLamports = 0n,
): Intent {
  const isPooled = by.program !== 'unknown' && by.program !== 'jupiter_rfq'
  return {
    kind: 'swap',
    wallet: wallet.number,
    side,
    baseMint: coin.mint.key.address,
    baseAmount: fill.base,
    baseDecimals: coin.mint.decimals,
    quoteMint: quote.key.address,
    quoteAmount: fill.quote,
    program: by.program,
    programId: by.programId.address,
    pool: isPooled ? poolKeyOf(coin).address : null,
    confidence: by.program === 'unknown' ? 'delta_only' : 'high',
    quoteMismatch: false,
    feeLamports,
    solPriceUsdE9: null,
  }
}

/** The account that a swap pays from or into. */
interface Purse {
  readonly account: Key
  /** Adds the instructions that follow the swap. */
  close(): void
}

/**
 * Prepares a quote account that holds at least `amount`. The USDC account always exists. SOL is
 * wrapped for the swap in an associated account or in one made from a seed, and unwrapped after it.
 * A wallet that keeps wrapped SOL uses that.
 */
function openPurse(
  tx: TransactionBuilder,
  scene: MarketScene,
  trader: Key,
  quote: Mint,
  amount: bigint,
): Purse {
  if (quote.key !== WSOL_MINT) {
    return { account: associatedTokenAccount(trader, quote.key, quote.program), close: () => {} }
  }
  const kept = scene.ledger.tokenAccount(wsolAccount(trader))
  if (kept === null && scene.random.chance(0.35)) {
    const seed = String(scene.slot * 10 + scene.random.below(10))
    const account = openSeededWsol(tx, trader, seed, amount)
    return { account, close: () => closeAccount(tx, account, trader, trader) }
  }
  const account = createAssociatedAccount(tx, trader, trader, WSOL_TOKEN)
  const missing = amount - (kept?.amount ?? 0n)
  if (missing > 0n) {
    transferSol(tx, trader, account, missing)
    syncNative(tx, account)
  }
  return {
    account,
    close: () => {
      if (kept === null) closeAccount(tx, account, trader, trader)
    },
  }
}

/** Trades SOL for USDC or back on the price pool: a conversion, no event (rule B8). */
export function convert(
  scene: MarketScene,
  wallet: Wallet,
  side: Side,
  amount: bigint,
): MarketAction {
  const coin = scene.universe.pricePool
  const tx = beginTransaction(scene, wallet.key)
  const purse = openPurse(tx, scene, wallet.key, WSOL_TOKEN, side === 'sell' ? amount : 0n)
  const quote = associatedTokenAccount(wallet.key, USDC_MINT, TOKEN)
  const { slot, time } = scene
  const venue = VENUES[coin.venue]
  const order = { coin, side, trader: wallet.key, base: purse.account, quote, amount, slot, time }
  recordSwap(tx, venue.plan(order))
  purse.close()
  return { draft: finishTransaction(tx, scene, [venue.table(coin)]), intents: [] }
}

/**
 * Jupiter's numbers of the venues in a route plan; some are followed by a direction. Null: the
 * market routes nothing over it.
 */
const ROUTE_STEPS: Readonly<Record<VenueName, number | null>> = {
  pumpfun: null,
  raydium_amm: 7,
  orca_whirlpool: 17,
  meteora_dlmm: 38,
  raydium_clmm: 46,
  pumpswap: 64,
}

/**
 * Jupiter v6 `route` over two hops: USDC to SOL in the price pool and on to the coin, or back. The
 * middle coin nets to zero (rule B5), so it is one swap against USDC. A sale of everything closes
 * the account.
 */
export function routeOverSol(
  scene: MarketScene,
  wallet: Wallet,
  coin: Coin,
  side: Side,
  amount: bigint,
): MarketAction {
  const { pricePool } = scene.universe
  const coins: Coins = side === 'buy' ? [pricePool, coin] : [coin, pricePool]
  const { tx, fills, by } = route(scene, wallet, coins, [side, side], amount)
  if (scene.random.chance(0.3)) addTip(tx, scene, wallet.key)
  const draft = finishTransaction(tx, scene, [coin, pricePool].map(tableOf))
  const got = side === 'buy' ? fills[1].base : fills[1].quote
  const fill = side === 'buy' ? { base: got, quote: amount } : { base: amount, quote: got }
  return { draft, intents: [swap(wallet, side, coin, fill, USDC_TOKEN, by)] }
}

/**
 * Jupiter v6 `route` from one coin to another over SOL. It counts as a sale and a purchase against
 * the SOL in between (rule B7).
 */
export function rotate(
  scene: MarketScene,
  wallet: Wallet,
  from: Coin,
  to: Coin,
  amount: bigint,
): MarketAction {
  const { tx, fills, by } = route(scene, wallet, [from, to], ['sell', 'buy'], amount)
  return {
    draft: finishTransaction(tx, scene, [from, to].map(tableOf)),
    intents: [
      swap(wallet, 'sell', from, fills[0], WSOL_TOKEN, by),
      swap(wallet, 'buy', to, fills[1], WSOL_TOKEN, by),
    ],
  }
}

type Coins = readonly [first: Coin, second: Coin]

const tableOf = (coin: Coin) => VENUES[coin.venue].table(coin)

/** Records a `route` over wrapped SOL, through a coin's pool or the price pool at each hop. */
function route(
  scene: MarketScene,
  { key: trader }: Wallet,
  coins: Coins,
  sides: readonly [first: Side, second: Side],
  amount: bigint,
) {
  const { slot, time, universe } = scene
  const tx = beginTransaction(scene, trader)
  /** The account of a hop that is not the middle one, and its mint. */
  const outside = (coin: Coin, side: Side) =>
    coin === universe.pricePool
      ? { account: usdcAccountOf(trader), mint: USDC_MINT }
      : { account: holdingOf(tx, trader, coin.mint, side), mint: coin.mint.key }
  // The target first: its account may have to be opened.
  const target = outside(coins[1], sides[1])
  const source = outside(coins[0], sides[0])
  const all = isAll(scene, source.account, sides[0], amount)
  const middle = openPurse(tx, scene, trader, WSOL_TOKEN, 0n)
  const hop = (coin: Coin, side: Side, outer: Key, given: bigint) => {
    const [base, quote] =
      coin === universe.pricePool ? [middle.account, outer] : [outer, middle.account]
    return VENUES[coin.venue].plan({ coin, side, trader, base, quote, amount: given, slot, time })
  }
  const gotOf = ({ fill }: PlannedSwap, side: Side) => (side === 'buy' ? fill.base : fill.quote)
  const first = hop(coins[0], sides[0], source.account, amount)
  const between = gotOf(first, sides[0])
  const second = hop(coins[1], sides[1], target.account, between)
  recordRoute(tx, {
    trader,
    source: source.account,
    target: target.account,
    mints: [source.mint, WSOL_MINT, target.mint],
    venues: coins.map(({ venue }) => venue),
    hops: [first, second],
    amounts: [amount, between, gotOf(second, sides[1])],
  })
  middle.close()
  if (all) closeAccount(tx, source.account, trader, trader)
  // Two hops on one venue count as that venue; hops on several count as the router (rule B11).
  const program = coins[0].venue === coins[1].venue ? coins[0].venue : 'jupiter'
  const fills = [first.fill, second.fill] as const
  return { tx, fills, by: { program, programId: JUPITER } }
}

/**
 * `route`: vec of steps (u8 venue, its arguments, u8 percent, u8 input, u8 output), u64 in, u64
 * quoted out, u16 slippage, u8 platform fee; accounts: 9, then each hop's program and accounts.
 * After each hop Jupiter calls itself with a `SwapEvent`: 32 program, 32 mint in, u64, 32 mint out,
 * u64.
 */
function recordRoute(
  tx: TransactionBuilder,
  route: {
    readonly trader: Key
    readonly source: Key
    readonly target: Key
    readonly mints: readonly Key[]
    readonly venues: readonly VenueName[]
    readonly hops: readonly PlannedSwap[]
    readonly amounts: readonly bigint[]
  },
): void {
  const data = byteWriter(80).hex('e517cb977ae3ad2a').u32(route.hops.length)
  route.venues.forEach((venue, index) => {
    const step = ROUTE_STEPS[venue]
    if (step === null) throw new Error(`no route goes over ${venue}`)
    data.u8(step)
    if (venue === 'orca_whirlpool') data.bool(index === 0)
    data.u8(100, index, index + 1)
  })
  const got = route.amounts.at(-1)!
  data.u64(route.amounts[0]!, got).u16(50).u8(0)
  const accounts: AccountMeta[] = [
    readonly(TOKEN),
    signer(route.trader),
    writable(route.source),
    writable(route.target),
    readonly(JUPITER),
    readonly(route.mints.at(-1)!),
    readonly(JUPITER),
    readonly(JUPITER_EVENTS),
    readonly(JUPITER),
    ...route.hops.flatMap((hop) => [readonly(hop.program), ...hop.accounts]),
  ]
  tx.call(
    JUPITER,
    accounts,
    data.done(),
    () => {
      tx.log('Instruction: Route')
      route.hops.forEach((hop, index) => {
        recordSwap(tx, hop)
        const event = byteWriter(128)
          .hex('e445a52e51cb9a1d40c6cde8260871e2')
          .key(hop.program)
          .key(route.mints[index]!)
          .u64(route.amounts[index]!)
          .key(route.mints[index + 1]!)
          .u64(route.amounts[index + 1]!)
          .done()
        tx.call(JUPITER, [readonly(JUPITER_EVENTS)], event, undefined, 106)
      })
      tx.logReturn(JUPITER, byteWriter(8).u64(got).done())
    },
    9_000,
  )
}

/**
 * A Jupiter RFQ fill between two tracked wallets. The taker sells the coin to the maker, who pays
 * out of wrapped SOL through a temporary account and pays the network fee. Both sign. Layout as on
 * mainnet: u64 in, u64 out, i64 expiry, u16 fee, u8; 12 accounts.
 */
export function fillRequest(
  scene: MarketScene,
  taker: Wallet,
  maker: Wallet,
  coin: Coin,
  amount: bigint,
): MarketAction {
  const lamports = BigInt(Math.max(1, Math.round(Number(amount) * priceAt(coin, scene.slot))))
  const { mint } = coin
  const from = associatedTokenAccount(taker.key, mint.key, mint.program)
  const to = associatedTokenAccount(maker.key, mint.key, mint.program)
  const makerSol = wsolAccount(maker.key)
  const passing = derivedKey(0, `rfq/${taker.key.address}/${scene.slot}`)
  scene.ledger.grant(passing, 0n, null)
  const tx = beginTransaction(scene, maker.key)
  createAssociatedAccount(tx, maker.key, maker.key, mint)
  const data = byteWriter(35)
    .hex('a860b7a35c0a28a0')
    .u64(amount, lamports, scene.time + 60)
    .u16(10)
    .u8(0)
    .done()
  const accounts: AccountMeta[] = [
    ...[taker.key, maker.key].map(writableSigner),
    ...[from, to].map(writable),
    readonly(JUPITER_RFQ),
    writable(makerSol),
    ...[mint.key, mint.program, WSOL_MINT, TOKEN, SYSTEM].map(readonly),
    writable(passing),
  ]
  tx.call(
    JUPITER_RFQ,
    accounts,
    data,
    () => {
      tx.log('Instruction: Fill')
      transferToken(tx, from, to, taker.key, amount)
      createAccount(tx, maker.key, passing, TOKEN_ACCOUNT_RENT, 165, TOKEN, false)
      initializeAccount3(tx, passing, maker.key, WSOL_TOKEN)
      transferToken(tx, makerSol, passing, maker.key, lamports)
      closeAccount(tx, passing, maker.key, maker.key)
      transferSol(tx, maker.key, taker.key, lamports)
    },
    18_000,
  )
  const fill = { base: amount, quote: lamports }
  const by = { program: 'jupiter_rfq', programId: JUPITER_RFQ }
  return {
    draft: finishTransaction(tx, scene),
    intents: [
      swap(taker, 'sell', coin, fill, WSOL_TOKEN, by),
      swap(maker, 'buy', coin, fill, WSOL_TOKEN, by),
    ],
  }
}

/**
 * A swap by an unpublished program: tokens one way and SOL the other, without known instructions.
 */
export function swapInPrivate(
  scene: MarketScene,
  wallet: Wallet,
  coin: Coin,
  side: Side,
  amount: bigint,
): MarketAction {
  const price = priceAt(coin, scene.slot)
  const fill =
    side === 'buy'
      ? { quote: amount, base: BigInt(Math.floor(Number(amount) / price)) }
      : { base: amount, quote: BigInt(Math.max(1, Math.floor(Number(amount) * price))) }
  const trader = wallet.key
  const book = { key: coin.key('private-book'), base: coin.key('private-base') }
  scene.ledger.grant(book.key, fill.quote * 5n + 10_000_000_000n, null)
  scene.ledger.grant(book.base, 2_074_080n, {
    mint: coin.mint,
    owner: book.key,
    amount: fill.base * 9n,
  })
  const tx = beginTransaction(scene, trader)
  const base = createAssociatedAccount(tx, trader, trader, coin.mint)
  const all = isAll(scene, base, side, amount)
  const data = byteWriter(24).hex('5157d1fe6a22b3c4').u64(fill.base, fill.quote).done()
  const accounts: AccountMeta[] = [
    ...[trader, book.key].map(writableSigner),
    ...[base, book.base].map(writable),
    ...[coin.mint.key, coin.mint.program, SYSTEM].map(readonly),
  ]
  tx.call(
    PRIVATE_PROGRAM,
    accounts,
    data,
    () => {
      if (side === 'buy') {
        transferSol(tx, trader, book.key, fill.quote)
        transferToken(tx, book.base, base, book.key, fill.base)
      } else {
        transferToken(tx, base, book.base, trader, fill.base)
        transferSol(tx, book.key, trader, fill.quote)
      }
    },
    12_000,
  )
  if (all) closeAccount(tx, base, trader, trader)
  const by = { program: 'unknown', programId: PRIVATE_PROGRAM }
  return {
    draft: finishTransaction(tx, scene),
    intents: [swap(wallet, side, coin, fill, WSOL_TOKEN, by)],
  }
}
