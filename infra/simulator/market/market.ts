import { createHash } from 'node:crypto'
import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import { encodeBase58 } from '../../../pipeline/domain/base58.ts'
import type { BalanceRecord, WalletEvent } from '../../../pipeline/domain/event.ts'
import type { DecodedRecord } from '../../../pipeline/domain/slot.ts'
import type { Block } from '../block.ts'
import type { AccountState, Mentioned, OwnedTokenAccount } from '../chain.ts'
import type { ChainShape } from '../chain-shape.ts'
import { type CompressedSlots, minuteBlockFrom } from '../compressed-shape.ts'
import { createRandom, hash32 } from '../random.ts'
import { createAccounts } from './accounts.ts'
import { DeskLedger } from './desk-ledger.ts'
import { BUSY_HABITS, type Desk, type Episode, playEpisode, type Scale } from './episode.ts'
import { createMarketHistory } from './history.ts'
import { associatedTokenAccount, type Key } from './key.ts'
import { wsolAccount } from './native.ts'
import { createPoolUpdates } from './pool-accounts.ts'
import { poolOfSwap } from './pool-keys.ts'
import { SYSTEM, TOKEN_ACCOUNT_RENT } from './programs.ts'
import type { Action } from './scene.ts'
import { createSignatures, type Signatures } from './signature.ts'
import { CALM_HABITS, lifeOfTemperament } from './temperament.ts'
import { swapOnVenue } from './trades.ts'
import type { Draft, DraftBalance, TokenAccount } from './transaction-builder.ts'
import { transactionInfo } from './transaction-info.ts'
import { type Intent, inEventOrder } from './truth.ts'
import { createUniverse, type Universe, USDC, type Wallet } from './universe.ts'
import type { PoolAccount } from './venues/pool.ts'
import { VENUES } from './venues/registry.ts'
import { priceAccountUpdate } from './whirlpool-account.ts'

/** How large a market is. */
export interface MarketOptions {
  readonly seed: number
  readonly wallets: number
  readonly coins: number
  /** Transactions of tracked wallets a slot, on average. */
  readonly trackedPerSlot: number
  /** Transactions a slot that touch no tracked wallet. */
  readonly othersPerSlot: number
  /**
   * Makes a market for a chain with a compressed history (`compressBefore`): beside what happens all the time, which begins with the first whole slot, wallets
   * hold coins for hours; what they do with these begins with the history, and stands in the first blocks of minutes, which it has too.
   */
  readonly compressed?: CompressedSlots | undefined
}

/** What a slot was meant to bring each tracked wallet, by event key: what a decoder must find, USD prices apart. */
export interface SlotTruth {
  /** Events and balances in the order in which a decoder gives them: by transaction, wallet, event; a wallet's balance after its events. */
  readonly records: readonly DecodedRecord[]
  readonly events: readonly WalletEvent[]
  readonly balances: readonly BalanceRecord[]
  /**
   * Indexes of the transactions that name a tracked wallet or change what its token accounts hold: what a subscription by wallet must bring. Some
   * leave no record, as USDC that comes in.
   */
  readonly transactions: readonly number[]
}

/** The market: what each slot holds is a function of the options and the slot alone. */
export interface Market {
  readonly universe: Universe
  readonly signatures: Signatures
  /** The block of a slot that has one. */
  block(slot: number): Block
  truth(slot: number): SlotTruth
  /**
   * Transactions that name a key, in slots `from` down to `last`, newest first, of slots without a block too; null now and then, so that others can be
   * given a turn. Fast for tracked wallets and their token accounts.
   */
  mentionsDown(keyId: string, from: number, last: number): Generator<Mentioned | null>
  /** Transactions of a slot. */
  count(slot: number): number
  /** One transaction, as `block` has it; undefined past the last. */
  transaction(slot: number, index: number): SubscribeUpdateTransactionInfo | undefined
  /** Mints, their metadata, pools with their vaults, and tracked wallets; null for other addresses. */
  account(address: string, slot: number): AccountState | null
  /** Token accounts of a tracked wallet after a slot. */
  tokenAccounts(owner: string, slot: number): readonly OwnedTokenAccount[]
  /** Unix seconds of a slot's block. */
  timeOf(slot: number): number
  blockhash(slot: number): string
}

/** An action with its place in a slot, made when it is looked at. */
interface Placed {
  /** Null for strangers. */
  readonly desk: Desk | null
  act(): Action
}

/** Unix milliseconds of slot 0 of the simulated chain: slots of 400 ms reach 400 million late in 2026. */
export const GENESIS_MS = Date.UTC(2021, 9, 1)
/** A slot of the simulated chain lasts this long. */
export const SLOT_MS = 400

const WALLETS_PER_DESK = 5
/** Episodes kept: some hundred kilobytes each. */
const FEWEST_EPISODES = 160
const SHORT_SLOTS = 128
const LONG_SLOTS = 2_048
/** Transactions of an average story, so that stories can be counted out. */
const ACTIONS_PER_STORY = 4

/** Opens the market on a chain of the given shape. */
export function createMarket(options: MarketOptions, shape: ChainShape): Market {
  const { compressed } = options
  const isCalm = compressed !== undefined
  const universe = createUniverse(options.seed, options.wallets, options.coins, (index) =>
    isCalm ? lifeOfTemperament(options.seed, index) : null,
  )
  const desks = createDesks(universe, isCalm)
  const pools = new Map<string, PoolAccount>()
  for (const coin of [...universe.coins, universe.pricePool]) {
    for (const account of VENUES[coin.venue].accounts(coin)) {
      pools.set(account.key.id, account)
    }
  }
  const signatures = createSignatures(options.seed)
  const timeOf = (slot: number) => Math.floor((GENESIS_MS + slot * SLOT_MS) / 1_000)
  const scales = createScales(options, desks.length, isCalm)
  const episodes = new Map<string, Episode>()
  const episodeLimit = Math.max(FEWEST_EPISODES, desks.length * scales.length * 3)
  const blockhashes = new Map<number, Buffer>()
  const blockhashBytes = (slot: number): Buffer => {
    let found = blockhashes.get(slot)
    if (found === undefined) {
      found = createHash('sha256').update(`${options.seed}/block/${slot}`).digest()
      if (blockhashes.size > 4_096) blockhashes.clear()
      blockhashes.set(slot, found)
    }
    return found
  }

  const startOf = (desk: Desk, scale: Scale, slot: number): number => {
    const phase = hash32(options.seed, 'phase', desk.index, scale.index) % scale.slots
    return Math.floor((slot - phase) / scale.slots) * scale.slots + phase
  }

  const episodeAt = (desk: Desk, scale: Scale, slot: number): Episode => {
    const start = startOf(desk, scale, slot)
    if (compressed && start < (scale.byTheMinute ? compressed.from : compressed.before)) return IDLE
    const id = `${desk.index}/${scale.index}/${start}`
    let episode = episodes.get(id)
    if (episode === undefined) {
      const atOrAfter = scale.byTheMinute
        ? (from: number) => minuteBlockFrom(shape, from)
        : shape.atOrAfter
      const habits = isCalm ? CALM_HABITS : BUSY_HABITS
      episode = playEpisode({ universe, pools, desk, scale, start, atOrAfter, timeOf, habits })
    }
    // The newest last: what was asked for longest ago goes first.
    episodes.delete(id)
    episodes.set(id, episode)
    if (episodes.size > episodeLimit) episodes.delete(episodes.keys().next().value!)
    return episode
  }

  const stranger = (slot: number, position: number): Action => {
    const random = createRandom(options.seed, 'stranger', slot, position)
    const index = random.below(universe.strangers.length)
    const key = universe.strangers[index]!
    const coin = universe.coins[(index * 7 + random.below(4)) % universe.coins.length]!
    const wallet = strangerWallet(key)
    const ledger = new DeskLedger(pools, new Set())
    ledger.slot = slot
    ledger.grant(key, 50_000_000_000n + BigInt(random.uint32()), null)
    const usdc = associatedTokenAccount(key, USDC.key, USDC.program)
    ledger.grant(usdc, 2_039_280n, { mint: USDC, owner: key, amount: 10_000_000_000n })
    const scene = { universe, ledger, slot, time: timeOf(slot), random }
    const side = random.chance(0.5) ? 'buy' : 'sell'
    const held = coin.supply / BigInt(1_000 + random.below(1_000_000))
    if (side === 'sell') {
      const account = associatedTokenAccount(key, coin.mint.key, coin.mint.program)
      ledger.grant(account, 2_039_280n, { mint: coin.mint, owner: key, amount: held * 2n })
    }
    const spent = 1_000_000 + random.below(1_000_000_000)
    const amount = side === 'sell' ? held : BigInt(coin.quote === USDC ? spent : spent * 2)
    return swapOnVenue(scene, wallet, coin, side, amount, random.chance(0.1))
  }

  const history = createMarketHistory({
    seed: options.seed,
    othersPerSlot: options.othersPerSlot,
    desks,
    scales,
    episodeAt,
    startOf,
    isOfDesk: (id) => desksNaming(id) !== null,
  })

  /** What a desk's wallets have before the slot, by the id of a wallet's key or of its USDC account's. */
  const basesOf = (desk: Desk, slot: number, bases = new Map<string, bigint>()) => {
    const found = scales.map((scale) => episodeAt(desk, scale, slot))
    for (const wallet of desk.wallets) {
      for (const [id, base] of [
        [wallet.key.id, wallet.baseLamports],
        [usdcAccountOf(wallet).id, wallet.baseUsdc],
      ] as const) {
        const total = found.reduce((sum, episode) => sum + episode.relativeBefore(id, slot), base)
        bases.set(id, total)
      }
    }
    return bases
  }

  const place = (slot: number) => {
    const bases = new Map<string, bigint>()
    const seen = new Set<Desk>()
    const actions = Array.from({ length: history.count(slot) }, (_, index): Placed => {
      const maker = history.maker(slot, index)
      // Strangers' transactions are made when somebody looks at them: most often only their places count.
      if (maker.kind === 'stranger') return { desk: null, act: () => stranger(slot, maker.number) }
      if (!seen.has(maker.desk)) basesOf(maker.desk, slot, bases)
      seen.add(maker.desk)
      return { desk: maker.desk, act: () => maker.action }
    })
    return { actions, bases }
  }

  /** A draft in its place, and what wallets have afterwards. */
  const put = (slot: number, index: number, draft: Draft, bases: Map<string, bigint>) => {
    const tokenBefore = tokenAmounts(draft, draft.preTokens)
    const info = () => {
      const first = signatures.of(slot, index)
      return transactionInfo(draft, {
        index,
        signatures: Array.from({ length: draft.signerCount }, (_, position) =>
          position === 0 ? first : signatures.further(first, position),
        ),
        recentBlockhash: blockhashBytes(slot - 12),
        base(key) {
          const now = bases.get(key.id)
          if (now === undefined || tokenBefore.has(key.id)) return 0n
          return now - draft.pre[draft.keys.indexOf(key)]!
        },
        tokenBase(key) {
          const now = bases.get(key.id)
          return now === undefined ? 0n : now - (tokenBefore.get(key.id) ?? 0n)
        },
      })
    }
    const move = () => {
      const tokenAfter = tokenAmounts(draft, draft.postTokens)
      draft.keys.forEach((key, account) => {
        const now = bases.get(key.id)
        if (now === undefined) return
        const [before, after] = tokenBefore.has(key.id)
          ? [tokenBefore.get(key.id)!, tokenAfter.get(key.id) ?? 0n]
          : [draft.pre[account]!, draft.post[account]!]
        bases.set(key.id, now + after - before)
      })
    }
    return { info, move }
  }

  const build = (slot: number) => {
    const { actions, bases } = place(slot)
    const named = new Set<Key>()
    const transactions = actions.map((placed, index) => {
      const { draft } = placed.act()
      if (draft.failure === null) for (const key of draft.keys) named.add(key)
      const { info, move } = put(slot, index, draft, bases)
      const built = info()
      move()
      return built
    })
    return { transactions, named }
  }

  const tell = (slot: number): SlotTruth => {
    const { actions, bases } = place(slot)
    const records: DecodedRecord[] = []
    const concerning: number[] = []
    actions.forEach((placed, index) => {
      // Strangers do nothing to a tracked wallet.
      if (placed.desk === null) return
      const action = placed.act()
      const { draft } = action
      if (concerns(universe, draft)) concerning.push(index)
      put(slot, index, draft, bases).move()
      const at = { slot, txIndex: index, blockTime: timeOf(slot), bases }
      addTruth(records, universe, action, at, signatures.of(slot, index))
    })
    return {
      transactions: concerning,
      records,
      events: records.filter((record) => record.kind !== 'balance' && record.kind !== 'undecoded'),
      balances: records.filter((record) => record.kind === 'balance'),
    }
  }

  const built = ofLastSlot(build)
  const told = ofLastSlot(tell)

  /** Desks whose transactions may name the key; null when strangers' may too. */
  const desksNaming = (id: string): readonly Desk[] | null => {
    let desk = desksByKey.get(id)
    if (desk === undefined && !tokenAccountsKnown) {
      tokenAccountsKnown = true
      for (const owner of desks) {
        for (const coin of owner.coins.flat()) {
          for (const wallet of owner.wallets) {
            const { key, program } = coin.mint
            desksByKey.set(associatedTokenAccount(wallet.key, key, program).id, owner)
          }
        }
        for (const wallet of owner.wallets) {
          desksByKey.set(usdcAccountOf(wallet).id, owner)
          desksByKey.set(wsolAccount(wallet.key).id, owner)
        }
      }
      desk = desksByKey.get(id)
    }
    return desk === undefined ? null : [desk]
  }
  const desksByKey = new Map(
    desks.flatMap((desk) => desk.wallets.map((wallet) => [wallet.key.id, desk] as const)),
  )
  let tokenAccountsKnown = false
  /** The slot before it, but for those that a compressed history skips. */
  const before = (slot: number) =>
    slot > (compressed?.before ?? 0) ? slot - 1 : shape.parent(slot)
  const states = createAccounts(universe, timeOf)
  const poolUpdates = createPoolUpdates(universe)

  return {
    universe,
    signatures,
    timeOf,
    *mentionsDown(id, from, last) {
      const naming = desksNaming(id)
      const [desk] = naming ?? []
      if (desk !== undefined) {
        yield* history.mentions(desk, id, from, last)
        return
      }
      for (let slot = from; slot >= last; slot = before(slot)) {
        yield null
        const { actions } = place(slot)
        for (let index = actions.length - 1; index >= 0; index -= 1) {
          const action = actions[index]!.act()
          if (action.draft.keys.some((key) => key.id === id))
            yield { slot, index, failed: action.draft.failure !== null }
        }
      }
    },
    count: (slot) => history.count(slot),
    transaction(slot, index) {
      if (index >= history.count(slot)) return undefined
      const maker = history.maker(slot, index)
      if (maker.kind === 'stranger') {
        return put(slot, index, stranger(slot, maker.number).draft, new Map()).info()
      }
      const bases = basesOf(maker.desk, slot)
      for (const before of history.sameDesk(slot, index)) {
        const { info, move } = put(slot, before.index, before.action.draft, bases)
        if (before.index === index) return info()
        move()
      }
      return undefined
    },
    account(address, slot) {
      const state = states.get(address)
      if (state !== undefined) return state(slot)
      const wallet = universe.wallets.find((found) => found.key.address === address)
      const desk = wallet && desksByKey.get(wallet.key.id)
      if (wallet === undefined || desk === undefined) return null
      const lamports = scales.reduce(
        (sum, scale) => sum + episodeAt(desk, scale, slot).relativeBefore(wallet.key.id, slot + 1),
        wallet.baseLamports,
      )
      return { lamports, owner: SYSTEM.address, data: Buffer.alloc(0) }
    },
    tokenAccounts(owner, slot) {
      const wallet = universe.wallets.find((found) => found.key.address === owner)
      const desk = wallet && desksByKey.get(wallet.key.id)
      if (wallet === undefined || desk === undefined) return []
      const usdc = associatedTokenAccount(wallet.key, USDC.key, USDC.program)
      const amount = scales.reduce(
        (sum, scale) => sum + episodeAt(desk, scale, slot).relativeBefore(usdc.id, slot + 1),
        wallet.baseUsdc,
      )
      const token = { mint: USDC, owner: wallet.key, amount }
      const found = new Map<string, OwnedTokenAccount | null>()
      for (const scale of scales) {
        for (const [at, actions] of episodeAt(desk, scale, slot).actions) {
          if (at > slot) continue
          for (const { key, lamports, token } of actions.flatMap(({ draft }) => [
            ...draft.after.values(),
          ])) {
            if (token !== null && token.owner.address !== owner) continue
            if (key.id === usdc.id) continue
            found.set(key.address, token === null ? null : ownedAccount(key, lamports, token))
          }
        }
      }
      const others = [...found.values()].filter((account) => account !== null)
      return [ownedAccount(usdc, TOKEN_ACCOUNT_RENT, token), ...others]
    },
    blockhash: (slot) => encodeBase58(blockhashBytes(slot)),
    block(slot) {
      const parent = shape.parent(slot)
      return {
        slot,
        parent,
        time: timeOf(slot),
        height: shape.height(slot),
        // Made when somebody looks at them: most who ask for a block of the past want its time.
        get blockhash() {
          return encodeBase58(blockhashBytes(slot))
        },
        get parentBlockhash() {
          return encodeBase58(blockhashBytes(parent))
        },
        get transactions() {
          return built(slot).transactions
        },
        get accounts() {
          const time = timeOf(slot)
          return [
            priceAccountUpdate(universe.pricePool, slot, time),
            ...poolUpdates(built(slot).named, slot, time),
          ]
        },
      }
    },
    truth: told,
  }
}

/** What a desk does in an episode that began before there was anything. */
const IDLE: Episode = { start: 0, end: 0, actions: new Map(), relativeBefore: () => 0n }

function ofLastSlot<T>(make: (slot: number) => T): (slot: number) => T {
  let last: { readonly slot: number; readonly made: T } | null = null
  return (slot) => {
    if (last?.slot !== slot) last = { slot, made: make(slot) }
    return last.made
  }
}

function createDesks(universe: Universe, isCalm: boolean): Desk[] {
  const count = Math.ceil(universe.wallets.length / WALLETS_PER_DESK)
  return Array.from({ length: count }, (_, index): Desk => {
    const random = createRandom(universe.seed, 'desk', index)
    const drawn = random.shuffle([...universe.coins])
    const ofKinds = (...kinds: number[]) => drawn.filter((coin) => kinds.includes(coin.index % 4))
    return {
      index,
      wallets: universe.wallets.slice(index * WALLETS_PER_DESK, (index + 1) * WALLETS_PER_DESK),
      // Long positions are in every fourth coin, so that no coin is on two scales.
      coins: isCalm
        ? [ofKinds(0, 1).slice(0, 12), ofKinds(3).slice(0, 8), ofKinds(2).slice(0, 10)]
        : [ofKinds(0, 1, 2).slice(0, 12), ofKinds(3).slice(0, 4)],
    }
  })
}

function createScales(options: MarketOptions, desks: number, isCalm: boolean): Scale[] {
  const perDesk = options.trackedPerSlot / Math.max(1, desks)
  const storiesOf = (rate: number, slots: number) =>
    Math.max(1, Math.round((rate * slots) / ACTIONS_PER_STORY))
  if (isCalm) {
    return CALM_SCALES.map(({ slots, storiesPerDesk }, index) => ({
      index,
      slots,
      byTheMinute: storiesPerDesk !== null,
      stories: storiesPerDesk ?? storiesOf(perDesk, slots),
    }))
  }
  const longStories = WALLETS_PER_DESK * 2
  const longRate = (longStories * ACTIONS_PER_STORY) / LONG_SLOTS
  const shortRate = Math.max(0, perDesk - longRate)
  return [
    {
      index: 0,
      slots: SHORT_SLOTS,
      stories: storiesOf(shortRate, SHORT_SLOTS),
      byTheMinute: false,
    },
    { index: 1, slots: LONG_SLOTS, stories: longStories, byTheMinute: false },
  ]
}

/** Four minutes of what happens all the time, as much as is asked for; three hours and half a day of what a compressed history has too. */
const CALM_SCALES = [
  { slots: 600, storiesPerDesk: null },
  { slots: 27_000, storiesPerDesk: 8 },
  { slots: 108_000, storiesPerDesk: 42 },
] as const

function usdcAccountOf(wallet: Wallet): Key {
  return associatedTokenAccount(wallet.key, USDC.key, USDC.program)
}

function addTruth(
  records: DecodedRecord[],
  universe: Universe,
  action: Action,
  at: {
    readonly slot: number
    readonly txIndex: number
    readonly blockTime: number
    readonly bases: ReadonlyMap<string, bigint>
  },
  signature: Buffer,
): void {
  const { slot, txIndex, blockTime } = at
  const text = encodeBase58(signature)
  const balances = new Map<number, bigint>()
  for (const key of action.draft.keys) {
    const lamports = at.bases.get(key.id)
    const wallet = lamports === undefined ? undefined : walletOf(universe, key)
    if (lamports !== undefined && wallet !== undefined) balances.set(wallet.number, lamports)
  }
  const tracked = action.intents.filter((intent) => intent.wallet > 0)
  const numbers = new Set([...tracked.map((intent) => intent.wallet), ...balances.keys()])
  for (const wallet of [...numbers].sort((a, b) => a - b)) {
    inEventOrder(tracked.filter((intent) => intent.wallet === wallet)).forEach(
      (intent, eventIndex) => {
        records.push(
          eventOf(universe, intent, {
            slot,
            txIndex,
            wallet,
            eventIndex,
            blockTime,
            signature: text,
          }),
        )
      },
    )
    const lamports = balances.get(wallet)
    if (lamports !== undefined) {
      records.push({ kind: 'balance', slot, txIndex, wallet, blockTime, lamports })
    }
  }
}

function eventOf(
  universe: Universe,
  intent: Intent,
  base: {
    readonly slot: number
    readonly txIndex: number
    readonly wallet: number
    readonly eventIndex: number
    readonly blockTime: number
    readonly signature: string
  },
): WalletEvent {
  switch (intent.kind) {
    case 'swap':
      return {
        kind: 'swap',
        ...base,
        side: intent.side,
        baseMint: intent.mint.key.address,
        baseAmount: intent.baseAmount,
        baseDecimals: intent.mint.decimals,
        quoteMint: intent.quote?.key.address ?? null,
        quoteAmount: intent.quoteAmount,
        program: intent.program,
        programId: intent.programId.address,
        pool: poolOfSwap(universe, intent.mint, intent.program),
        confidence: intent.confidence,
        quoteMismatch: intent.quote === null,
        feeLamports: intent.feeLamports,
        solPriceUsdE9: null,
      }
    case 'token_transfer':
      return {
        kind: 'token_transfer',
        ...base,
        direction: intent.direction,
        mint: intent.mint.key.address,
        amount: intent.amount,
        decimals: intent.mint.decimals,
      }
    case 'sol_transfer':
      return {
        kind: 'sol_transfer',
        ...base,
        direction: intent.direction,
        lamports: intent.lamports,
      }
  }
}

function tokenAmounts(draft: Draft, balances: readonly DraftBalance[]): Map<string, bigint> {
  return new Map(balances.map(({ account, token }) => [draft.keys[account]!.id, token.amount]))
}

/** Whether a transaction names a tracked wallet or changes what one of its token accounts holds. */
function concerns(universe: Universe, draft: Draft): boolean {
  if (draft.keys.some((key) => walletOf(universe, key) !== undefined)) return true
  const before = tokenAmounts(draft, draft.preTokens)
  const after = tokenAmounts(draft, draft.postTokens)
  return [...draft.preTokens, ...draft.postTokens].some(({ account, token }) => {
    const { id } = draft.keys[account]!
    return walletOf(universe, token.owner) !== undefined && before.get(id) !== after.get(id)
  })
}

function walletOf(universe: Universe, key: Key): Wallet | undefined {
  let numbers = walletIndexes.get(universe)
  if (numbers === undefined) {
    numbers = new Map(universe.wallets.map((wallet) => [wallet.key.id, wallet]))
    walletIndexes.set(universe, numbers)
  }
  return numbers.get(key.id)
}
const walletIndexes = new WeakMap<Universe, Map<string, Wallet>>()

function ownedAccount(key: Key, lamports: bigint, token: TokenAccount): OwnedTokenAccount {
  const { mint, owner, amount } = token
  return {
    address: key.address,
    mint: mint.key.address,
    owner: owner.address,
    program: mint.program.address,
    amount,
    decimals: mint.decimals,
    lamports,
  }
}

function strangerWallet(key: Key): Wallet {
  return { number: 0, key, secret: new Uint8Array(), baseLamports: 0n, baseUsdc: 0n }
}
