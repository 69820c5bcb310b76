import test from 'ava'
import { USDC, USDT, WSOL } from '../domain/quote.ts'
import type { DecodedRecord } from '../domain/slot.ts'
import {
  addressOf,
  concatBytes,
  RENT,
  TransactionStory,
  trackedNames,
} from '../testing/transaction-story.ts'
import { createDecoder } from './decoder.ts'
import { anchorDiscriminator } from './program.ts'

const PUMPSWAP = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'
const RAYDIUM = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'
const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'
const LIMIT = 'jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu'
const KAMINO = 'KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD'
const TIP = '96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5'
const SWAP = anchorDiscriminator('buy')
const RAYDIUM_SWAP = concatBytes([9], new Uint8Array(16))
const ROUTE = anchorDiscriminator('route')

/**
 * Events of a story for the named wallets, without the fields that are the same in all: slot,
 * index, block time, signature. Token links have tests of their own (`token-links.test.ts`).
 */
function events(story: TransactionStory, ...names: readonly string[]) {
  return decode(story, ...names).filter((record) => record.kind !== 'balance')
}

function decode(story: TransactionStory, ...names: readonly string[]): Record<string, unknown>[] {
  const result = createDecoder(trackedNames(...names)).decode(story.build(), 1_700_000_000)
  if (result.kind !== 'decoded') throw new Error(`needs decimals of ${result.mints}`)
  return result.records.filter(isNoTokenLink).map(short)
}

const isNoTokenLink = ({ kind }: DecodedRecord) => kind !== 'token_link'

function short(record: DecodedRecord): Record<string, unknown> {
  const { slot, txIndex, blockTime, ...rest } = record
  const { signature: _signature, solPriceUsdE9: _price, ...event } = rest as Record<string, unknown>
  return event
}

function aSwap(fields: Record<string, unknown>) {
  return {
    kind: 'swap',
    wallet: 1,
    eventIndex: 0,
    side: 'buy',
    baseMint: addressOf('COIN'),
    baseAmount: 1000n,
    baseDecimals: 6,
    quoteMint: WSOL,
    quoteAmount: 500n,
    program: 'pumpswap',
    programId: PUMPSWAP,
    pool: null, // the stories name no pool accounts
    confidence: 'high',
    quoteMismatch: false,
    feeLamports: 0n,
    ...fields,
  }
}

const tokenIn = (mint: string, amount: bigint, fields = {}) => ({
  kind: 'token_transfer',
  wallet: 1,
  eventIndex: 0,
  direction: 'in',
  mint: addressOf(mint),
  amount,
  decimals: 6,
  ...fields,
})
const tokenOut = (mint: string, amount: bigint, fields = {}) => ({
  ...tokenIn(mint, amount),
  direction: 'out',
  ...fields,
})
const solIn = (lamports: bigint, fields = {}) => ({
  kind: 'sol_transfer',
  wallet: 1,
  eventIndex: 0,
  direction: 'in',
  lamports,
  ...fields,
})
const solOut = (lamports: bigint, fields = {}) => ({
  ...solIn(lamports),
  direction: 'out',
  ...fields,
})

/** A wallet with tokens, and a pool of COIN, WSOL, USDC, USDT and OTHER. */
function market(...signers: readonly string[]): TransactionStory {
  const story = new TransactionStory(...(signers.length === 0 ? ['w'] : signers))
  for (const mint of ['COIN', 'OTHER', WSOL, USDC, USDT]) {
    story.token(`w ${mint}`, 'w', mint, 1_000_000_000_000n)
    story.token(`pool ${mint}`, 'pool', mint, 1_000_000_000_000_000n)
  }
  return story
}

/** A swap call in which w gives an amount of one mint and receives an amount of another. */
function swap(
  story: TransactionStory,
  give: string,
  given: bigint,
  get: string,
  got: bigint,
  program = PUMPSWAP,
  data = SWAP,
) {
  return story.call(program, data, ['w'], () => {
    story.transfer(`w ${give}`, `pool ${give}`, given)
    story.transfer(`pool ${get}`, `w ${get}`, got)
  })
}

test('a buy on a venue is one swap of what w gave and received (B4, B5, B6, B11)', (t) => {
  t.deepEqual(events(swap(market(), WSOL, 500n, 'COIN', 1000n), 'w'), [aSwap({})])
})

test('sides come from the legs: a venue call that takes base is a sell (B5)', (t) => {
  t.deepEqual(events(swap(market(), 'COIN', 1000n, USDC, 500n), 'w'), [
    aSwap({ side: 'sell', quoteMint: USDC }),
  ])
})

test('a failed transaction gives links and nothing else (B1, B14, K8)', (t) => {
  const story = swap(market(), WSOL, 500n, 'COIN', 1000n)
  const result = createDecoder(trackedNames('w')).decode(story.build({ failed: true }), 7)
  const records = result.kind === 'decoded' ? result.records : []
  t.deepEqual(records.filter(isNoTokenLink), [
    {
      kind: 'balance',
      slot: 1,
      txIndex: 0,
      wallet: 1,
      blockTime: 7,
      lamports: 99_999_995_000n,
      lamportsBefore: 100_000_000_000n,
    },
  ])
})

test('several accounts of one mint are summed, and moves between them give no event (B2, B12)', (t) => {
  const story = market().token('w second', 'w', 'COIN', 5n)
  story.transfer('w COIN', 'w second', 77n)
  t.deepEqual(events(story, 'w'), [])
  const both = market().token('w second', 'w', 'COIN', 500n)
  both.call(PUMPSWAP, SWAP, ['w'], () => {
    both
      .transfer('w COIN', 'pool COIN', 600n)
      .transfer('w second', 'pool COIN', 400n)
      .transfer(`pool ${WSOL}`, `w ${WSOL}`, 500n)
  })
  t.deepEqual(events(both, 'w'), [aSwap({ side: 'sell' })])
})

test("an account opened for w and closed within the transaction counts as w's, without its rent (B2, B3)", (t) => {
  const story = market()
  story.openToken('w', 'temp', 'w', WSOL, 500n)
  story.call(PUMPSWAP, SWAP, ['w'], () => {
    story.transfer('temp', `pool ${WSOL}`, 500n).transfer('pool COIN', 'w COIN', 1000n)
  })
  story.close('temp', 'w')
  t.deepEqual(events(story, 'w'), [aSwap({})])
})

test('wrapping, syncing and unwrapping SOL give no event (B3)', (t) => {
  const story = market()
  story.transferSol('w', `w ${WSOL}`, 9000n).syncNative(`w ${WSOL}`).close(`w ${WSOL}`, 'w')
  t.deepEqual(events(story, 'w'), [])
})

test('an account that changes owner changes the balances of both (B2)', (t) => {
  const story = market().giveAway('w COIN', 'v')
  t.deepEqual(events(story, 'w', 'v'), [
    tokenOut('COIN', 1_000_000_000_000n),
    tokenIn('COIN', 1_000_000_000_000n, { wallet: 2 }),
  ])
})

test('tips, rent and the network fee are part of no swap and no transfer (B3, B13)', (t) => {
  const story = market().networkFee(123_456n)
  story.transferSol('w', TIP, 1_000_000n)
  story.call(PUMPSWAP, SWAP, ['w'], () => {
    story.openToken('w', 'w NEW', 'w', 'NEW')
    story.transferSol('w', 'vault', 500n).transferSol('w', TIP, 40n).mintTo('NEW', 'w NEW', 1000n)
  })
  t.deepEqual(events(story, 'w'), [aSwap({ baseMint: addressOf('NEW') })])
})

test("SOL that opens someone else's WSOL account is a flow beyond the rent (B3)", (t) => {
  const story = market()
  story.openToken('w', 'theirs', 'v', WSOL, 700n)
  t.deepEqual(events(story, 'w', 'v'), [solOut(700n), solIn(700n, { wallet: 2 })])
})

test('closing a WSOL account in favour of someone else moves the wrapped SOL, not the rent (B5, B13)', (t) => {
  const story = new TransactionStory('w').token('temp', 'w', WSOL, 900n).close('temp', 'v')
  t.deepEqual(events(story, 'w', 'v'), [solOut(900n), solIn(900n, { wallet: 2 })])
})

test('adding liquidity is not a swap: its tokens and its WSOL are transfers (B4, B12, B13)', (t) => {
  const story = market()
  story.call(PUMPSWAP, anchorDiscriminator('deposit'), ['w'], () => {
    story.transfer('w COIN', 'pool COIN', 10n).transfer(`w ${WSOL}`, `pool ${WSOL}`, 20n)
  })
  t.deepEqual(events(story, 'w'), [tokenOut('COIN', 10n), solOut(20n, { eventIndex: 1 })])
})

test('fees that the swap instruction takes from w are part of the quote (B5)', (t) => {
  const story = market()
  story.call('terminal', Uint8Array.of(1), ['w'], () => {
    story.transferSol('w', 'terminal fees', 5n)
    story.call(PUMPSWAP, SWAP, ['w'], () => {
      story
        .transfer(`w ${WSOL}`, `pool ${WSOL}`, 490n)
        .transfer(`w ${WSOL}`, `pool ${USDC}`, 5n)
        .transfer('pool COIN', 'w COIN', 1000n)
    })
  })
  t.deepEqual(events(story, 'w'), [aSwap({ programId: addressOf('terminal') })])
})

test('among several opposing quote coins, the one of the highest worth is the quote (B6)', (t) => {
  const story = market()
  story.call(PUMPSWAP, SWAP, ['w'], () => {
    story.transfer(`w ${WSOL}`, `pool ${WSOL}`, 1_000_000_000n)
    story.transfer(`w ${USDC}`, `pool ${USDC}`, 150_000_001n)
    story.transfer('pool COIN', 'w COIN', 1000n)
  })
  t.deepEqual(events(story, 'w'), [aSwap({ quoteMint: USDC, quoteAmount: 150_000_001n })])
})

test('base that left without any quote is a sell without a value, if w signed (B6a)', (t) => {
  const story = (...signers: string[]) => {
    const sale = market(...signers)
    return sale.call(PUMPSWAP, SWAP, ['w'], () => {
      sale.transfer('w COIN', 'pool COIN', 1000n).transfer(`pool ${WSOL}`, `pool ${USDC}`, 500n)
    })
  }
  t.deepEqual(events(story('w'), 'w'), [
    aSwap({ side: 'sell', quoteMint: null, quoteAmount: 0n, quoteMismatch: true }),
  ])
  t.deepEqual(events(story('keeper'), 'w'), [tokenOut('COIN', 1000n)])
})

test('base that only came in is a transfer, and so is SOL that moved with it (B6a, B12, B13)', (t) => {
  const story = market()
  story.call(PUMPSWAP, SWAP, ['w'], () => {
    story
      .transfer('pool COIN', 'w COIN', 1000n)
      .transferSol('w', 'x', 0n)
      .transfer(`pool ${WSOL}`, `w ${WSOL}`, 3n)
  })
  t.deepEqual(events(story, 'w'), [tokenIn('COIN', 1000n), solIn(3n, { eventIndex: 1 })])
})

test('several bases bought at once are one swap each, without a value, by mint (B6a)', (t) => {
  const story = market()
  story.call(PUMPSWAP, SWAP, ['w'], () => {
    story
      .transfer(`w ${WSOL}`, `pool ${WSOL}`, 500n)
      .transfer('pool OTHER', 'w OTHER', 7n)
      .transfer('pool COIN', 'w COIN', 1000n)
  })
  const mints = [addressOf('COIN'), addressOf('OTHER')].sort()
  const amounts = { [addressOf('COIN')]: 1000n, [addressOf('OTHER')]: 7n }
  t.deepEqual(
    events(story, 'w'),
    mints.map((mint, eventIndex) =>
      aSwap({
        eventIndex,
        baseMint: mint,
        baseAmount: amounts[mint],
        quoteMint: null,
        quoteAmount: 0n,
        quoteMismatch: true,
      }),
    ),
  )
})

test('token for token is a sell and a buy, whose quote is the coin the route passed through (B7)', (t) => {
  const story = market()
  story.call(JUPITER, ROUTE, ['w'], () => {
    swap(story, 'COIN', 1000n, WSOL, 505n)
    swap(story, WSOL, 500n, 'OTHER', 7n, RAYDIUM, RAYDIUM_SWAP)
  })
  const both = { program: 'jupiter', programId: JUPITER, quoteAmount: 505n }
  t.deepEqual(events(story, 'w'), [
    aSwap({ ...both, side: 'sell' }),
    aSwap({ ...both, eventIndex: 1, baseMint: addressOf('OTHER'), baseAmount: 7n }),
  ])
})

test('token for token without a quote coin in between has no value (B7)', (t) => {
  const story = swap(market(), 'COIN', 1000n, 'OTHER', 7n)
  const both = { quoteMint: null, quoteAmount: 0n, quoteMismatch: true }
  t.deepEqual(events(story, 'w'), [
    aSwap({ ...both, side: 'sell' }),
    aSwap({ ...both, eventIndex: 1, baseMint: addressOf('OTHER'), baseAmount: 7n }),
  ])
})

test('quote coin for quote coin is a conversion: no swap, no transfer, whichever program did it (B8)', (t) => {
  t.deepEqual(events(swap(market(), USDC, 150n, WSOL, 1n), 'w'), [])
  t.deepEqual(events(swap(market(), USDC, 150n, WSOL, 1n, 'somebody', Uint8Array.of(1)), 'w'), [])
  t.deepEqual(events(swap(market(), USDC, 150n, WSOL, 1n, KAMINO, Uint8Array.of(1)), 'w'), [
    solIn(1n),
  ])
  const beside = swap(market().transferSol('w', 'friend', 60n), USDC, 150n, WSOL, 1n)
  t.deepEqual(events(beside, 'w'), [solOut(60n)])
  const apart = market()
  apart.call('somebody', Uint8Array.of(1), ['w'], () =>
    apart.transfer(`w ${USDC}`, `pool ${USDC}`, 150n),
  )
  apart.call('somebody', Uint8Array.of(2), ['w'], () =>
    apart.transfer(`pool ${WSOL}`, `w ${WSOL}`, 1n),
  )
  t.deepEqual(events(apart, 'w'), [])
})

test('one unit of a mint without decimals is an NFT: no swap and no transfer (B8a)', (t) => {
  const story = () =>
    market()
      .mint('NFT', { decimals: 0 })
      .token('w NFT', 'w', 'NFT', 0n)
      .token('pool NFT', 'pool', 'NFT', 5n)
  t.deepEqual(events(swap(story(), WSOL, 500n, 'NFT', 1n), 'w'), [solOut(500n)])
  t.deepEqual(events(story().transfer('pool NFT', 'w NFT', 1n), 'w'), [])
  t.deepEqual(events(story().transfer('pool NFT', 'w NFT', 2n), 'w'), [
    tokenIn('NFT', 2n, { decimals: 0 }),
  ])
})

test('several swap instructions are one swap each; a round trip within one is none (B9)', (t) => {
  const story = swap(swap(market(), WSOL, 500n, 'COIN', 1000n), 'COIN', 1000n, WSOL, 490n)
  t.deepEqual(events(story, 'w'), [
    aSwap({}),
    aSwap({ eventIndex: 1, side: 'sell', quoteAmount: 490n }),
  ])
  const round = market()
  round.call('arbitrage', Uint8Array.of(1), ['w'], () => {
    swap(round, WSOL, 500n, 'COIN', 1000n)
    swap(round, 'COIN', 1000n, WSOL, 510n, RAYDIUM, RAYDIUM_SWAP)
  })
  t.deepEqual(events(round, 'w'), [solIn(10n)])
})

test('an exchange of one base against a quote by an unknown program is a delta_only swap (B10, B11)', (t) => {
  const unknown = {
    program: 'unknown',
    programId: addressOf('new venue'),
    confidence: 'delta_only',
  }
  const story = swap(market(), WSOL, 500n, 'COIN', 1000n, 'new venue', Uint8Array.of(1))
  t.deepEqual(events(story, 'w'), [aSwap(unknown)])
  const dollars = market().transferSol('w', 'friend', 60n)
  swap(dollars, USDC, 500n, 'COIN', 1000n, 'new venue', Uint8Array.of(1))
  t.deepEqual(events(dollars, 'w'), [
    aSwap({ ...unknown, quoteMint: USDC }),
    solOut(60n, { eventIndex: 1 }),
  ])
})

test('balance changes give no swap for lending, minted tokens, plain transfers, or in addition to a known swap (B10)', (t) => {
  const lent = swap(market(), WSOL, 500n, 'COIN', 1000n, KAMINO, Uint8Array.of(1))
  t.deepEqual(events(lent, 'w'), [tokenIn('COIN', 1000n), solOut(500n, { eventIndex: 1 })])
  const minted = market()
  minted.call('staking', Uint8Array.of(1), ['w'], () => {
    minted.transfer(`w ${WSOL}`, `pool ${WSOL}`, 500n).mintTo('COIN', 'w COIN', 1000n)
  })
  t.deepEqual(events(minted, 'w'), [tokenIn('COIN', 1000n), solOut(500n, { eventIndex: 1 })])
  const plain = market('w', 'friend')
  plain.transfer('pool COIN', 'w COIN', 1000n).transferSol('w', 'friend', 500n)
  t.deepEqual(events(plain, 'w'), [tokenIn('COIN', 1000n), solOut(500n, { eventIndex: 1 })])
})

test('directly credited lamports count in a swap from balance changes, and are not a transfer elsewhere (B10, B13)', (t) => {
  const story = market().sol('curve', 10_000n)
  story.call('new curve', Uint8Array.of(1), ['w'], () => {
    story.transfer('w COIN', 'pool COIN', 1000n).credit('curve', 'w', 500n)
  })
  const unknown = {
    program: 'unknown',
    programId: addressOf('new curve'),
    confidence: 'delta_only',
  }
  t.deepEqual(events(story, 'w'), [aSwap({ ...unknown, side: 'sell' })])
  const reward = market().sol('vault', 10_000n)
  reward.call('staking', Uint8Array.of(1), ['w'], () => {
    reward.transferSol('w', 'x', 1n).credit('vault', 'w', 500n)
  })
  t.deepEqual(events(reward, 'w'), [solOut(1n)])
})

test('a router names the swap when it called several venues or an unknown one (B11)', (t) => {
  const routed = (...hops: [string, Uint8Array][]) => {
    const story = market()
    story.call(JUPITER, ROUTE, ['w'], () => {
      for (const [program, data] of hops) swap(story, WSOL, 500n, 'COIN', 1000n, program, data)
    })
    return events(story, 'w').map(({ program }) => program)
  }
  t.deepEqual(routed([PUMPSWAP, SWAP]), ['pumpswap'])
  t.deepEqual(routed([PUMPSWAP, SWAP], [PUMPSWAP, SWAP]), ['pumpswap'])
  t.deepEqual(routed([PUMPSWAP, SWAP], [RAYDIUM, RAYDIUM_SWAP]), ['jupiter'])
  t.deepEqual(routed(['private venue', SWAP]), ['jupiter'])
  t.deepEqual(routed(['private venue', SWAP], [PUMPSWAP, SWAP]), ['jupiter'])
})

test('without a router, the venue that moved the base of w names the swap (B11)', (t) => {
  const story = market()
  story.call('bot', Uint8Array.of(1), ['w'], () => {
    story.call(PUMPSWAP, SWAP, ['w'], () => {
      story.transfer(`w ${USDC}`, `pool ${USDC}`, 150n).transfer(`pool ${WSOL}`, `w ${WSOL}`, 500n)
    })
    swap(story, WSOL, 500n, 'COIN', 1000n, RAYDIUM, RAYDIUM_SWAP)
  })
  t.deepEqual(events(story, 'w'), [
    aSwap({
      program: 'raydium_amm',
      programId: addressOf('bot'),
      quoteMint: USDC,
      quoteAmount: 150n,
    }),
  ])
})

test('amounts beyond a swap are one transfer per mint, before swaps when in, after them when out (B12, A)', (t) => {
  const story = swap(market(), WSOL, 500n, 'COIN', 1000n)
  story
    .transfer('pool COIN', 'w COIN', 11n)
    .transfer('w OTHER', 'pool OTHER', 5n)
    .transfer(`w ${USDC}`, `pool ${USDC}`, 4n)
  t.deepEqual(events(story, 'w'), [
    tokenIn('COIN', 11n),
    aSwap({ eventIndex: 1 }),
    tokenOut('OTHER', 5n, { eventIndex: 2 }),
  ])
})

test('SOL and WSOL moved outside swaps are one SOL transfer per direction (B13)', (t) => {
  const story = market().sol('friend', 1000n)
  story.transferSol('w', 'friend', 30n).transfer(`w ${WSOL}`, `pool ${WSOL}`, 12n)
  story.call('payer', Uint8Array.of(1), ['w'], () =>
    story.transferSol('friend', 'w', 5n).transferSol('friend', `w ${WSOL}`, 2n),
  )
  t.deepEqual(events(story, 'w', 'friend'), [
    solIn(7n),
    solOut(42n, { eventIndex: 1 }),
    solIn(30n, { wallet: 2 }),
    solOut(7n, { wallet: 2, eventIndex: 1 }),
  ])
})

test('SOL put on accounts that the transaction creates is rent, up to the rent of 10,240 bytes (B3, B13)', (t) => {
  t.deepEqual(
    events(new TransactionStory('w').createAccount('w', 'stake', 5_000_000_000n), 'w'),
    [],
  )
  const story = new TransactionStory('w')
  story.transferSol('w', 'new', 1000n).allocate('new').transferSol('w', 'new', 50n)
  t.deepEqual(events(story, 'w'), [])
  const large = new TransactionStory('w')
  large.createAccount('w', 'large', RENT).transferSol('w', 'large', 72_161_280n + 9n)
  t.deepEqual(events(large, 'w'), [solOut(9n)])
})

test("SOL sent in addition to a swap is a terminal's fee up to 5% of its SOL, else a transfer (B13a)", (t) => {
  const story = (fee: bigint) =>
    swap(market().transferSol('w', 'terminal', fee), WSOL, 500n, 'COIN', 1000n)
  t.deepEqual(events(story(25n), 'w'), [aSwap({ feeLamports: 25n })])
  t.deepEqual(events(story(26n), 'w'), [aSwap({}), solOut(26n, { eventIndex: 1 })])
})

test('when both sides of a trade are tracked, each has its own event and number (A)', (t) => {
  const story = market('w', 'v').token('v COIN', 'v', 'COIN', 5000n).token('v SOL', 'v', WSOL, 0n)
  story.call(
    '61DFfeTKM7trxYcPQCM78bJ794ddZprZpAwAnLiwTpYH',
    anchorDiscriminator('fill'),
    ['w', 'v'],
    () => {
      story.transfer('v COIN', 'w COIN', 1000n).transfer(`w ${WSOL}`, 'v SOL', 500n)
    },
  )
  const rfq = { program: 'jupiter_rfq', programId: '61DFfeTKM7trxYcPQCM78bJ794ddZprZpAwAnLiwTpYH' }
  t.deepEqual(events(story, 'w', 'v'), [aSwap(rfq), aSwap({ ...rfq, wallet: 2, side: 'sell' })])
})

test('a network fee paid by someone else is not charged to w (B3, B14)', (t) => {
  const story = swap(market('payer', 'w').networkFee(999_999n), WSOL, 500n, 'COIN', 1000n)
  t.deepEqual(decode(story, 'w'), [
    aSwap({}),
    {
      kind: 'balance',
      wallet: 1,
      lamports: 100_000_000_000n,
      lamportsBefore: 100_000_000_000n,
    },
  ])
})

test('a wallet named by a token balance only has events but no balance record (B14)', (t) => {
  const story = new TransactionStory('friend')
    .token('f', 'friend', 'COIN', 50n)
    .token('w COIN', 'w', 'COIN', 0n)
    .transfer('f', 'w COIN', 50n)
  t.deepEqual(decode(story, 'w'), [tokenIn('COIN', 50n)])
})

test('an escrow belongs to the owner of its order: placing and cancelling give no event (B2a)', (t) => {
  const placed = market()
  placed.call(
    LIMIT,
    anchorDiscriminator('initialize_order'),
    ['base', 'w', 'order', 'reserve', 'w COIN'],
    () => {
      placed.openToken('w', 'reserve', 'order', 'COIN').transfer('w COIN', 'reserve', 1000n)
    },
  )
  t.deepEqual(events(placed, 'w'), [])
  const cancelled = market().token('reserve', 'order', 'COIN', 1000n)
  cancelled.call(
    LIMIT,
    anchorDiscriminator('cancel_order'),
    ['order', 'reserve', 'w', 'w COIN'],
    () => {
      cancelled.transfer('reserve', 'w COIN', 1000n).close('reserve', 'w')
    },
  )
  t.deepEqual(events(cancelled, 'w'), [])
})

test('a flash fill is one swap of the owner from take to settle, whoever signed it (B2a, B11)', (t) => {
  const story = market('keeper')
    .token('reserve', 'order', 'COIN', 1000n)
    .token('keeper COIN', 'keeper', 'COIN', 0n)
  story.token('keeper SOL', 'keeper', WSOL, 0n)
  story.call(
    LIMIT,
    anchorDiscriminator('pre_flash_fill_order'),
    ['order', 'reserve', 'keeper'],
    () => {
      story.transfer('reserve', 'keeper COIN', 1000n)
    },
  )
  story.call(RAYDIUM, RAYDIUM_SWAP, ['keeper'], () => {
    story.transfer('keeper COIN', 'pool COIN', 1000n).transfer(`pool ${WSOL}`, 'keeper SOL', 510n)
  })
  story.call(
    LIMIT,
    anchorDiscriminator('flash_fill_order'),
    ['order', 'reserve', 'w', 'keeper'],
    () => {
      story.transfer('keeper SOL', `w ${WSOL}`, 500n)
    },
  )
  t.deepEqual(events(story, 'w', 'keeper'), [
    aSwap({ side: 'sell', program: 'jupiter', programId: LIMIT }),
    tokenIn('COIN', 1000n, { wallet: 2 }),
    aSwap({
      wallet: 2,
      eventIndex: 1,
      side: 'sell',
      quoteAmount: 510n,
      program: 'raydium_amm',
      programId: RAYDIUM,
    }),
    solOut(500n, { wallet: 2, eventIndex: 2 }),
  ])
})

test('decimals that the transaction does not state are requested from the caller (J8)', (t) => {
  const story = new TransactionStory('w')
    .openToken('w', 'temp', 'w', 'RARE')
    .mintTo('RARE', 'temp', 5n)
    .burn('temp', 5n)
    .close('temp', 'w')
  t.deepEqual(events(story, 'w'), [])
  const decoder = createDecoder(trackedNames('w'))
  const swapped = new TransactionStory('w').sol('vault', 10_000n).token('pool', 'pool', WSOL, 0n)
  swapped.openToken('w', 'temp', 'w', 'RARE').mintTo('RARE', 'temp', 5n)
  swapped.call(PUMPSWAP, SWAP, ['w'], () =>
    swapped.burn('temp', 5n).transferSol('vault', 'w', 500n),
  )
  swapped.close('temp', 'w')
  const tx = swapped.build()
  t.deepEqual(decoder.decode(tx, 0), { kind: 'needs_decimals', mints: [addressOf('RARE')] })
  const known = decoder.decode(tx, 0, () => 3)
  t.deepEqual(
    known.kind === 'decoded' && known.records.filter(({ kind }) => kind === 'swap').map(short),
    [
      aSwap({
        eventIndex: 1,
        side: 'sell',
        baseMint: addressOf('RARE'),
        baseAmount: 5n,
        baseDecimals: 3,
      }),
    ],
  )
})

test('a call of a program without inner instructions is undecoded, with the reason (K7)', (t) => {
  const story = swap(market(), WSOL, 500n, 'COIN', 1000n)
  const result = createDecoder(trackedNames('w')).decode(story.build({ innerKept: false }), 0)
  t.deepEqual(result.kind === 'decoded' && result.records.filter(isNoTokenLink).map(short), [
    { kind: 'undecoded', wallet: 1, programId: PUMPSWAP, reason: 'no_inner_instructions' },
    {
      kind: 'balance',
      wallet: 1,
      lamports: 99_999_995_000n,
      lamportsBefore: 100_000_000_000n,
    },
  ])
})
