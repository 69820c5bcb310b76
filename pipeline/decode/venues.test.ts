import test from 'ava'
import { addressFromBytes } from '../domain/address.ts'
import type { Swap } from '../domain/event.ts'
import { USDC, USDT, WSOL } from '../domain/quote.ts'
import { createWallets } from '../domain/wallets.ts'
import { feePayers, readCorpus } from '../testing/corpus.ts'
import {
  addressOf,
  concatBytes,
  TransactionStory,
  trackedNames,
} from '../testing/transaction-story.ts'
import { createDecoder } from './decoder.ts'
import { anchorDiscriminator } from './program.ts'
import { PROGRAMS } from './registry.ts'

/**
 * Recorded mainnet swaps of fee payers, by the start of the signature: side, base amount, start of
 * the base mint, quote amount, quote mint, program.
 *
 * Amounts come from the payer's balances in the transaction's own meta, computed apart from the
 * decoder, or from an independent source (`expectations.jsonl`).
 */
const RECORDED: Readonly<Record<string, string>> = {
  '4Phe2wzBZx4Q': 'buy 126386099 AXSx for 250000000 WSOL on raydium_amm',
  NM2EdRBQWvHm: 'buy 539260103542471 D8r8 for 40000000000 WSOL on raydium_amm',
  '3aQZsNRUbNXp': 'sell 836112233953 2Crt for 352936256 WSOL on raydium_amm',
  '3fk7bxRi5jGK': 'sell 1006739562068 CLug for 539297876 WSOL on raydium_clmm',
  mqSGNwKK8GZW: 'buy 96087352138307 AqFe for 1000000000 WSOL on raydium_launchlab',
  '4XaCfTLNno3r': 'buy 4466643 XsDo for 20000000 USDC on raydium_clmm',
  KoEZgXaNZms1: 'buy 25185050000023 8kwf for 200000 WSOL on meteora_damm_v2',
  '5LFGhoLsJXPE': 'sell 5378340441642 BgQE for 1240746840 WSOL on meteora_damm_v2',
  '3KoUwXVsM5V2': 'sell 481315710848 9iSs for 146026090 WSOL on meteora_dbc',
  '47Uf4bjgNn1U': 'buy 309765362157 9iSs for 93693283 WSOL on meteora_dbc',
  '28voYKxB1E': 'sell 1941584805 DezX for 999387 WSOL on meteora_dlmm',
  // Direct credits, checked against the seller's lamports: sell_v2 with 26 accounts, sell with 16,
  // and an event without fee fields.
  '2kDi38muoppa': 'sell 27744412388022 DerC for 1755737581 WSOL on pumpfun',
  '4ey9csqjqX2Z': 'sell 12081779750012 H9RN for 2900572879 WSOL on pumpfun',
  '3tJczs8y2bR8': 'sell 94443000000 FstB for 3520709 WSOL on pumpfun',
  '5KEMtQuv4Ki1': 'sell 50287397622085 4fSY for 1634447259 WSOL on pumpfun',
  '628Q5CDNX5mW': 'buy 5609742876530 HQ4S for 399999999 WSOL on pumpfun',
  '4ozK1xPjYQAq': 'buy 5460328478971 HhcG for 450000000 WSOL on pumpfun',
  '5wrZ6o5aVvSk': 'sell 1000 SRMu for 364885 WSOL on token_swap',
  '5vBFfTGrcdkE': 'buy 287442 7vfC for 52708178 WSOL on jupiter_rfq',
  '4G1gvudg2PyQ': 'buy 812420478 9BB6 for 500000000 USDC on solfi',
  '5LuTa5k9UvgM': 'buy 2143812 JUPy for 1100000 USDC on zerofi',
  '3e3mx5RcppoA': 'sell 4613254 SKHY for 792746700 USDC on zerofi',
  '31ycbQtF5EEi': 'buy 998528432013 KMnD for 10000000000 WSOL on meteora_dlmm',
  '4o4hLvZb9MBN': 'buy 2190151370200 HmMu for 56061275 USDC on raydium_clmm',
  '51SfoFAgv3nx': 'buy 944945170 oreo for 100000000 USDC on jupiter',
  '673WYx7A9yqW': 'buy 29200568 BANK for 20000000 USDC on jupiter',
  SuN6K9f4YL4V: 'sell 1000000 2b1k for 999932 USDT on jupiter',
  '54E52Wj6BKvm': 'sell 581363053234 HC6G for 1901383 USDT on jupiter',
  '5c113yaZxBcJ': 'buy 1018736368 9cRC for 250000000 USDT on jupiter',
  '2nLWcmrav8Zi': 'buy 66980582126 CFJx for 2000000 USDC on jupiter',
  '5XYf7V6rNjRu': 'buy 10000000000 5Tfq for 27853252 USDC on jupiter',
  '5pcpYhqJyyHH': 'buy 3913523 2b1k for 27309941 WSOL on jupiter',
}

const recorded = readCorpus()
const onCorpus = recorded.length > 0 ? test : test.skip

onCorpus('recorded swaps of venues and routers agree with balances and other sources', (t) => {
  const found = Object.keys(RECORDED).map((start) => {
    const entry = recorded.find(({ signature }) => signature.startsWith(start))
    if (entry === undefined) return [start, 'not recorded']
    const payer = addressFromBytes(entry.tx.accountKeys[0]!)
    const result = createDecoder(createWallets([payer])).decode(entry.tx, entry.blockTime)
    const swaps =
      result.kind === 'decoded' ? result.records.filter(({ kind }) => kind === 'swap') : []
    return [start, swaps.map((swap) => text(swap as Swap)).join(', ')]
  })
  t.deepEqual(Object.fromEntries(found), RECORDED)
})

/**
 * Authorities that own the vaults of all pools of a program. The vaults of other programs belong to
 * the pool.
 */
const AUTHORITIES = [
  '5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1', // raydium_amm
  'GpMZbSM2GgvTKHJirzeGfMFoaZ8UQyX7F4v8vHTvFxbL', // raydium_cpmm
]

onCorpus('the pool of every recorded swap owns a vault of what was swapped', (t) => {
  const decoder = createDecoder(createWallets(feePayers(recorded)))
  const found: Record<string, number> = {}
  for (const { tx, blockTime, signature } of recorded) {
    const result = decoder.decode(tx, blockTime, () => 6)
    const records = result.kind === 'decoded' ? result.records : []
    for (const swap of records) {
      if (swap.kind !== 'swap') continue
      const { program, pool, baseMint } = swap
      found[`${program} ${pool === null ? 'without' : 'with'}`] ??= 0
      found[`${program} ${pool === null ? 'without' : 'with'}`]! += 1
      const balances = [...tx.preTokenBalances, ...tx.postTokenBalances].filter(
        ({ mint }) => mint === baseMint,
      )
      // Token balances of 2021 name no owners.
      if (pool === null || balances.every(({ owner }) => owner === null)) continue
      t.true(
        balances.some(({ owner }) => [pool, ...AUTHORITIES].includes(owner ?? '')),
        signature,
      )
      const account = tx.accountKeys.findIndex((key) => addressFromBytes(key) === pool)
      t.false(
        balances.some(({ accountIndex }) => accountIndex === account),
        signature,
      )
    }
  }
  const followed = ['pumpfun', 'pumpswap', 'raydium_amm', 'raydium_clmm', 'meteora_dlmm']
  for (const program of followed) {
    t.true(found[`${program} with`]! > 0, program)
    t.is(found[`${program} without`], undefined, program)
  }
})

/**
 * Account layouts of swap instructions of each program with `poolOf`. `vault` marks the vault of
 * `pool` that pays out the base.
 */
const LAYOUTS: Readonly<
  Record<string, readonly (readonly [data: Uint8Array, accounts: string])[]>
> = {
  pumpfun: [
    [anchorDiscriminator('buy'), '_ _ _ pool vault'],
    [anchorDiscriminator('buy_exact_quote_in_v2'), '_ _ _ _ _ _ _ _ _ _ pool vault quote'],
    [anchorDiscriminator('sell_v3'), '_ _ _ _ _ pool vault quote'],
  ],
  pumpswap: [
    [anchorDiscriminator('buy'), 'pool _ _ _ _ _ _ vault quote'],
    [anchorDiscriminator('sell_v2'), 'pool _ _ _ _ _ _ quote vault'],
    [anchorDiscriminator('multi_hop_swap'), `${'_ '.repeat(16)}_ _ other _ _ _ _ pool vault quote`],
  ],
  raydium_amm: [
    [Uint8Array.of(9), `_ pool _ _ vault quote ${'_ '.repeat(11)}`],
    [Uint8Array.of(11), `_ pool _ _ _ quote vault ${'_ '.repeat(11)}`],
    [Uint8Array.of(16), '_ pool _ vault quote _ _ _'],
  ],
  raydium_cpmm: [[anchorDiscriminator('swap_base_output'), '_ _ _ pool _ _ quote vault']],
  raydium_clmm: [
    [anchorDiscriminator('swap'), '_ _ pool _ _ vault quote'],
    [anchorDiscriminator('swap_v2'), '_ _ pool _ _ quote vault'],
    [
      anchorDiscriminator('swap_router_base_in'),
      '_ _ _ _ _ _ _ other _ quote _ _ _ _ _ pool _ _ vault _ _',
    ],
  ],
  orca_whirlpool: [
    [anchorDiscriminator('swap'), '_ _ pool _ vault _ quote'],
    [anchorDiscriminator('swap_v2'), '_ _ _ _ pool _ _ _ quote _ vault'],
    [anchorDiscriminator('two_hop_swap'), '_ _ other pool _ quote _ _ _ _ _ vault'],
    [anchorDiscriminator('two_hop_swap_v2'), 'pool other _ _ _ _ _ _ _ vault _ _ quote'],
  ],
  meteora_dlmm: [[anchorDiscriminator('swap2'), 'pool _ quote vault']],
}

test('every program with poolOf has layouts here, and each finds the pool whose vault gave the base', (t) => {
  for (const program of PROGRAMS) {
    if (program.poolOf === undefined) continue
    const { name } = program
    const layouts = LAYOUTS[name]
    if (layouts === undefined) {
      t.fail(`${name} has no layouts here`)
      continue
    }
    for (const [data, accounts] of layouts) {
      const names = accounts.trim().split(' ')
      const move = { source: names.indexOf('vault'), destination: 99 }
      const instruction = {
        programIndex: 0,
        stackHeight: 1,
        data,
        accounts: Uint8Array.from(names, (_, index) => index),
      }
      t.is(program.poolOf?.(instruction, move), names.indexOf('pool'), `${name} ${accounts}`)
      t.is(program.poolOf?.(instruction, { source: 98, destination: 99 }), null)
      t.true(program.isSwap?.(data, instruction.accounts), name)
    }
  }
})

function text({ side, baseAmount, baseMint, quoteAmount, quoteMint, program }: Swap): string {
  const quotes: Readonly<Record<string, string>> = {
    [WSOL]: 'WSOL',
    [USDC]: 'USDC',
    [USDT]: 'USDT',
  }
  return `${side} ${baseAmount} ${baseMint.slice(0, 4)} for ${quoteAmount} ${quotes[quoteMint ?? '']} on ${program}`
}

const anchor = (...names: string[]) => names.map(anchorDiscriminator)
const tags = (...values: number[]) => values.map((tag) => concatBytes([tag], new Uint8Array(24)))

/**
 * Entry points of each program by its name, and instructions that are not swaps although they move
 * two mints.
 */
const ENTRY_POINTS: Readonly<Record<string, { swaps: Uint8Array[]; others: Uint8Array[] }>> = {
  pumpfun: {
    swaps: anchor(
      'buy',
      'sell',
      'buy_exact_sol_in',
      'buy_v2',
      'sell_v2',
      'buy_exact_quote_in_v2',
      'buy_v3',
      'sell_v3',
      'buy_exact_quote_in_v3',
    ),
    others: anchor('create', 'migrate', 'collect_creator_fee'),
  },
  pumpswap: {
    swaps: anchor(
      'buy',
      'sell',
      'buy_exact_quote_in',
      'buy_v2',
      'sell_v2',
      'buy_exact_quote_in_v2',
      'multi_hop_swap',
    ),
    others: anchor('deposit', 'withdraw', 'create_pool'),
  },
  raydium_amm: { swaps: tags(9, 11, 16, 17), others: tags(1, 3, 4) },
  raydium_cpmm: {
    swaps: anchor('swap_base_input', 'swap_base_output'),
    others: anchor('deposit', 'withdraw'),
  },
  raydium_clmm: {
    swaps: anchor('swap', 'swap_v2', 'swap_router_base_in'),
    others: anchor(
      'increase_liquidity_v2',
      'decrease_liquidity',
      'open_limit_order',
      'increase_limit_order',
      'decrease_limit_order',
      'settle_limit_order',
      'close_limit_order',
    ),
  },
  raydium_launchlab: {
    swaps: anchor('buy_exact_in', 'buy_exact_out', 'sell_exact_in', 'sell_exact_out'),
    others: anchor('initialize', 'migrate_to_amm'),
  },
  raydium_stable: { swaps: tags(9, 11), others: tags(3, 4) },
  orca_whirlpool: {
    swaps: anchor('swap', 'swap_v2', 'two_hop_swap', 'two_hop_swap_v2'),
    others: anchor('increase_liquidity', 'collect_fees'),
  },
  orca_v2: { swaps: tags(1), others: tags(2, 3, 4, 5) },
  orca_v1: { swaps: tags(1), others: tags(2, 3) },
  meteora_dlmm: {
    swaps: anchor(
      'swap',
      'swap2',
      'swap_exact_out',
      'swap_exact_out2',
      'swap_with_price_impact',
      'swap_with_price_impact2',
    ),
    others: anchor(
      'add_liquidity',
      'remove_liquidity',
      'claim_fee',
      'place_limit_order',
      'cancel_limit_order',
      'close_limit_order_if_empty',
    ),
  },
  meteora_damm_v1: {
    swaps: anchor('swap'),
    others: anchor('add_balance_liquidity', 'remove_balance_liquidity'),
  },
  meteora_damm_v2: {
    swaps: anchor('swap', 'swap2'),
    others: anchor('add_liquidity', 'claim_position_fee'),
  },
  meteora_dbc: { swaps: anchor('swap', 'swap2'), others: anchor('claim_trading_fee') },
  lifinity_v2: { swaps: anchor('swap'), others: anchor('deposit_all_token_types') },
  lifinity_v1: { swaps: anchor('swap'), others: anchor('deposit_all_token_types') },
  phoenix: { swaps: tags(0, 2), others: tags(1, 3, 12) },
  openbook_v2: { swaps: anchor('place_take_order'), others: anchor('settle_funds', 'place_order') },
  openbook_v1: {
    swaps: [concatBytes([0, 13, 0, 0, 0]), concatBytes([0, 10, 0, 0, 0])],
    others: [concatBytes([0, 5, 0, 0, 0])],
  },
  serum_v3: {
    swaps: [concatBytes([0, 10, 0, 0, 0])],
    others: [concatBytes([0, 5, 0, 0, 0]), concatBytes([0])],
  },
  manifest: { swaps: tags(4, 13), others: tags(2, 3, 6) },
  saber: { swaps: tags(1), others: tags(2, 3, 4) },
  aldrin_v1: { swaps: anchor('swap'), others: anchor('create_basket') },
  aldrin_v2: { swaps: anchor('swap'), others: anchor('redeem_basket') },
  fluxbeam: { swaps: tags(1), others: tags(2, 3) },
  moonshot: { swaps: anchor('buy', 'sell'), others: anchor('migrate_funds') },
  boop: { swaps: anchor('buy_token', 'sell_token'), others: anchor('graduate') },
  heaven: { swaps: anchor('buy', 'sell'), others: anchor('create_standard_liquidity_pool') },
  invariant: { swaps: anchor('swap'), others: anchor('create_position') },
  saros: { swaps: tags(1), others: tags(2, 3) },
  token_swap: { swaps: tags(1), others: tags(2, 3, 4, 5) },
  stabble: { swaps: anchor('swap', 'swap_v2'), others: anchor('deposit', 'withdraw') },
  stabble_weighted: { swaps: anchor('swap', 'swap_v2'), others: anchor('deposit', 'withdraw') },
  byreal: {
    swaps: anchor('swap', 'swap_v2', 'swap_router_base_in'),
    others: anchor('increase_liquidity_v2'),
  },
  mercurial: { swaps: tags(4), others: tags(1, 2, 3) },
  pancakeswap: {
    swaps: anchor('swap', 'swap_v2', 'swap_router_base_in'),
    others: anchor('decrease_liquidity_v2'),
  },
  cropper: {
    swaps: anchor('swap', 'swap_v2', 'two_hop_swap'),
    others: anchor('increase_liquidity'),
  },
  futarchy_amm: {
    swaps: anchor('spot_swap', 'conditional_swap'),
    others: anchor('provide_liquidity'),
  },
  omnipair: { swaps: anchor('swap'), others: anchor('add_liquidity') },
  saros_dlmm: { swaps: anchor('swap'), others: anchor('increase_position', 'decrease_position') },
  stabble_clmm: {
    swaps: anchor('swap_v2', 'swap_router_base_in'),
    others: anchor('increase_liquidity_v2', 'decrease_liquidity_v2'),
  },
  defituna: {
    swaps: anchor('swap', 'two_hop_swap'),
    others: anchor('increase_liquidity', 'increase_limit_order', 'decrease_limit_order'),
  },
  virtuals: { swaps: anchor('buy', 'sell'), others: anchor('launch', 'create_meteora_pool') },
  trends: { swaps: anchor('swap'), others: anchor('initialize_pool', 'claim_creator_fee') },
  wavebreak: { swaps: tags(8, 9, 10, 11), others: tags(7, 12, 13) },
  goosefx_gamma: {
    swaps: anchor('swap_base_input', 'swap_base_output', 'oracle_based_swap_base_input'),
    others: anchor('deposit', 'withdraw', 'migrate_raydium_clmm_to_gamma'),
  },
  perena: {
    swaps: anchor(
      'swap_exact_in',
      'swap_exact_in_hinted',
      'swap_exact_out',
      'swap_exact_out_hinted',
    ),
    others: anchor('add_liquidity', 'remove_liquidity', 'swap_exact_in_quote'),
  },
  woofi: { swaps: anchor('swap'), others: anchor('query', 'deposit', 'withdraw') },
  sanctum_infinity: { swaps: tags(1, 2, 23, 24), others: tags(0, 3, 4, 19, 20) },
  jupiter: {
    swaps: anchor(
      'route',
      'route_v2',
      'shared_accounts_route',
      'shared_accounts_route_v2',
      'shared_accounts_route_with_token_ledger',
      'route_with_token_ledger',
      'exact_out_route',
      'exact_out_route_v2',
      'shared_accounts_exact_out_route',
      'shared_accounts_exact_out_route_v2',
    ),
    others: anchor('claim', 'set_token_ledger'),
  },
  dflow: {
    swaps: anchor(
      'swap',
      'swap2',
      'swap_with_destination',
      'swap2_with_destination',
      'swap_with_destination_native',
      'swap2_with_destination_native',
    ),
    others: anchor('close_order'),
  },
  ...Object.fromEntries(
    [
      'solfi',
      'obric_v2',
      'humidifi',
      'tessera',
      'goonfi',
      'zerofi',
      'bisonfi',
      'alphaq',
      'quantum',
      'raydium_route',
      'titan',
    ].map((name) => [name, { swaps: [concatBytes([7, 1, 2, 3])], others: [] }]),
  ),
}

test('the entry points of each program give its name, its other instructions give transfers (B4, B11)', (t) => {
  for (const { name, id, kind } of PROGRAMS) {
    if (kind !== 'venue' && kind !== 'router') continue
    if (['okx', 'jupiter_rfq', 'scorch'].includes(name)) continue // each has a test of its own
    if (id.startsWith('JUP4')) continue // see the test of Jupiter v4
    const points = ENTRY_POINTS[name]
    if (points === undefined) {
      t.fail(`${name} has no entry points here`)
      continue
    }
    for (const data of points.swaps) t.deepEqual(programsOf(id, data), [name], name)
    for (const data of points.others) t.deepEqual(programsOf(id, data), [], name)
  }
})

test('Jupiter v4 has a route and one exact-output instruction per venue', (t) => {
  const v4 = PROGRAMS.find(({ id }) => id.startsWith('JUP4'))!
  for (const name of ['route', 'whirlpool_swap_exact_output', 'raydium_swap_exact_output']) {
    t.deepEqual(programsOf(v4.id, anchorDiscriminator(name)), ['jupiter'])
  }
  t.deepEqual(programsOf(v4.id, anchorDiscriminator('set_token_ledger')), [])
})

test('each OKX router has its entry points', (t) => {
  const [first, second] = PROGRAMS.filter(({ name }) => name === 'okx')
  for (const name of ['swap', 'swap2', 'commission_sol_swap2', 'proxy_swap']) {
    t.deepEqual(programsOf(first!.id, anchorDiscriminator(name)), ['okx'])
  }
  for (const name of ['swap_tob', 'swap_toc', 'swap_tob_with_receiver']) {
    t.deepEqual(programsOf(second!.id, anchorDiscriminator(name)), ['okx'])
  }
  t.deepEqual(programsOf(second!.id, anchorDiscriminator('wrap_unwrap')), [])
})

test('each version of Jupiter RFQ has its entry point', (t) => {
  const [first, second] = PROGRAMS.filter(({ name }) => name === 'jupiter_rfq')
  t.deepEqual(programsOf(first!.id, anchorDiscriminator('fill')), ['jupiter_rfq'])
  t.deepEqual(programsOf(first!.id, anchorDiscriminator('pre_fill')), [])
  t.deepEqual(programsOf(second!.id, anchorDiscriminator('fill_exact_in')), ['jupiter_rfq'])
  t.deepEqual(programsOf(second!.id, anchorDiscriminator('fill')), [])
})

test('a swap of Scorch has tag 1 or 2 and at least eleven accounts', (t) => {
  const { id } = PROGRAMS.find(({ name }) => name === 'scorch')!
  const accounts = Array.from({ length: 11 }, (_, index) => `account ${index}`)
  const found = [1, 2, 3].map((tag) => programsOf(id, Uint8Array.of(tag), accounts))
  t.deepEqual(found, [['scorch'], ['scorch'], []])
  t.deepEqual(programsOf(id, Uint8Array.of(2), accounts.slice(1)), [])
})

test('a call of a market maker with unpublished data is a swap only when two mints move (B4)', (t) => {
  const maker = PROGRAMS.find(({ name }) => name === 'humidifi')!
  const update = new TransactionStory('w').call(maker.id, Uint8Array.of(1, 2), ['w'])
  t.deepEqual(swapsOf(update), [])
})

test('an order that only rests in the book is not a swap (B4)', (t) => {
  const phoenix = PROGRAMS.find(({ name }) => name === 'phoenix')!
  const resting = new TransactionStory('w')
    .token('w COIN', 'w', 'COIN', 1000n)
    .token('vault', 'market', 'COIN', 0n)
  resting.call(phoenix.id, Uint8Array.of(2), ['w'], () =>
    resting.transfer('w COIN', 'vault', 1000n),
  )
  t.deepEqual(swapsOf(resting), [])
})

test('limit orders in pools, and deposits to the vault of a Trigger v2 order, are transfers (B4, B12, B13)', (t) => {
  const market = (...signers: string[]) => {
    const story = new TransactionStory(...signers)
    for (const mint of ['COIN', WSOL])
      story.token(`w ${mint}`, 'w', mint, 5000n).token(`pool ${mint}`, 'pool', mint, 5000n)
    return story
  }
  const called = (story: TransactionStory, venue: string, name: string, move: () => void) => {
    const { id } = PROGRAMS.find((program) => program.name === venue)!
    return transfersOf(story.call(id, anchorDiscriminator(name), ['w'], move))
  }
  const orders = [
    ['raydium_clmm', 'open_limit_order', 'settle_limit_order', 'decrease_limit_order'],
    ['meteora_dlmm', 'place_limit_order', 'cancel_limit_order', 'cancel_limit_order'],
  ] as const
  for (const [venue, place, settle, cancel] of orders) {
    const placing = market('w')
    const placed = called(placing, venue, place, () =>
      placing.transfer('w COIN', 'pool COIN', 1000n),
    )
    t.deepEqual(placed, ['token_transfer out 1000'])
    const settling = market('keeper')
    const settled = called(settling, venue, settle, () =>
      settling.transfer(`pool ${WSOL}`, `w ${WSOL}`, 400n),
    )
    t.deepEqual(settled, ['sol_transfer in 400'])
    const cancelling = market('w')
    const cancelled = called(cancelling, venue, cancel, () =>
      cancelling.transfer('pool COIN', 'w COIN', 200n).transfer(`pool ${WSOL}`, `w ${WSOL}`, 300n),
    )
    t.deepEqual(cancelled, ['token_transfer in 200', 'sol_transfer in 300'])
  }
  // The vault of Trigger v2 is an ordinary wallet that Jupiter holds for the user.
  const deposit = market('w').token('vault COIN', 'vault', 'COIN', 0n)
  t.deepEqual(transfersOf(deposit.transfer('w COIN', 'vault COIN', 1000n)), [
    'token_transfer out 1000',
  ])
})

test('direct credits without an event are taken from the balance, shared by the amounts sold (B5)', (t) => {
  const moonshot = PROGRAMS.find(({ name }) => name === 'moonshot')!
  const sale = (amount: bigint) => concatBytes(anchorDiscriminator('sell'), u64(amount))
  const story = new TransactionStory('w')
    .token('w COIN', 'w', 'COIN', 4000n)
    .token('vault', 'curve', 'COIN', 0n)
  story.sol('curve', 10_000_000n).transferSol('w', 'friend', 77n)
  story.call(moonshot.id, sale(1000n), ['w', 'w COIN', 'curve'], () =>
    story.transfer('w COIN', 'vault', 1000n).credit('curve', 'w', 300_000n),
  )
  story.call(moonshot.id, sale(3000n), ['w', 'w COIN', 'curve'], () =>
    story.transfer('w COIN', 'vault', 3000n).credit('curve', 'w', 900_001n),
  )
  t.deepEqual(
    swapsOf(story).map(({ baseAmount, quoteAmount }) => [baseAmount, quoteAmount]),
    [
      [1000n, 300_000n],
      [3000n, 900_001n],
    ],
  )
})

test('a PumpSwap route ending on a SOL curve is credited by the balance, one ending in a pool by transfer (B5)', (t) => {
  const pumpswap = PROGRAMS.find(({ name }) => name === 'pumpswap')!
  const data = concatBytes(anchorDiscriminator('multi_hop_swap'), u64(1000n), u64(1n))
  const fixed = ['w', ...Array.from({ length: 15 }, () => 'w COIN')]
  const first = ['COIN', 'MIDDLE', 'pool', 'vault', 'pool MIDDLE']
  const sold = (last: string, pay: (story: TransactionStory) => void) => {
    const story = new TransactionStory('w')
      .token('w COIN', 'w', 'COIN', 1000n)
      .token('w WSOL', 'w', WSOL, 0n)
      .token('vault', 'pool', 'COIN', 0n)
      .token('pool MIDDLE', 'pool', 'MIDDLE', 900n)
      .token('next MIDDLE', 'next', 'MIDDLE', 0n)
      .token('next WSOL', 'next', WSOL, 500_000n)
    story.sol('next', 10_000_000n)
    const hop = ['MIDDLE', last, 'next', 'next MIDDLE', 'next WSOL']
    story.call(pumpswap.id, data, [...fixed, ...first, ...hop], () => {
      story.transfer('w COIN', 'vault', 1000n).transfer('pool MIDDLE', 'next MIDDLE', 900n)
      pay(story)
    })
    return swapsOf(story).map(({ side, baseAmount, quoteAmount, pool }) => [
      ...[side, baseAmount, quoteAmount, pool === addressOf('pool')],
    ])
  }
  const sale = [['sell', 1000n, 300_000n, true]]
  t.deepEqual(
    sold(WSOL, (story) => story.credit('next', 'w', 300_000n)),
    sale,
  )
  t.deepEqual(
    sold(WSOL, (story) => story.transfer('next WSOL', 'w WSOL', 300_000n)),
    sale,
  )
})

test('lamports of closed accounts are no part of a direct credit (B3, B5)', (t) => {
  const moonshot = PROGRAMS.find(({ name }) => name === 'moonshot')!
  const story = new TransactionStory('w')
    .token('w COIN', 'w', 'COIN', 1000n)
    .token('vault', 'curve', 'COIN', 0n)
  story.sol('curve', 10_000_000n).sol('ticket', 5000n)
  story.call(
    moonshot.id,
    concatBytes(anchorDiscriminator('sell'), u64(1000n)),
    ['w', 'w COIN', 'curve'],
    () => {
      story
        .transfer('w COIN', 'vault', 1000n)
        .credit('curve', 'w', 300_000n)
        .credit('ticket', 'w', 5000n)
    },
  )
  story.close('w COIN', 'w')
  t.deepEqual(
    swapsOf(story).map(({ quoteAmount }) => quoteAmount),
    [300_000n],
  )
})

/** Programs of the swaps of a wallet that buys COIN with WSOL by token transfers under one call. */
function programsOf(program: string, data: Uint8Array, accounts: string[] = []): string[] {
  const story = new TransactionStory('w')
  for (const mint of ['COIN', WSOL]) {
    story.token(`w ${mint}`, 'w', mint, 1_000_000n).token(`pool ${mint}`, 'pool', mint, 1_000_000n)
  }
  story.call(program, data, accounts, () => {
    story.transfer(`w ${WSOL}`, `pool ${WSOL}`, 500n).transfer('pool COIN', 'w COIN', 1000n)
  })
  return swapsOf(story)
    .filter(({ confidence }) => confidence === 'high')
    .map(({ program }) => program)
}

function swapsOf(story: TransactionStory): Swap[] {
  const result = createDecoder(trackedNames('w')).decode(story.build(), 0)
  if (result.kind !== 'decoded') throw new Error('decimals are unknown')
  return result.records.filter((record) => record.kind === 'swap')
}

/** The events of w, which are all transfers. */
function transfersOf(story: TransactionStory): string[] {
  const result = createDecoder(trackedNames('w')).decode(story.build(), 0)
  if (result.kind !== 'decoded') throw new Error('decimals are unknown')
  return result.records.flatMap((record) => {
    if (record.kind === 'token_transfer')
      return [`token_transfer ${record.direction} ${record.amount}`]
    if (record.kind === 'sol_transfer')
      return [`sol_transfer ${record.direction} ${record.lamports}`]
    return record.kind === 'balance' || record.kind === 'token_link' ? [] : [record.kind]
  })
}

function u64(value: bigint): Uint8Array {
  const data = Buffer.alloc(8)
  data.writeBigUInt64LE(value)
  return data
}

test('a truncated instruction of a venue is no entry point', (t) => {
  const pumpfun = PROGRAMS.find(({ name }) => name === 'pumpfun')!
  t.deepEqual(programsOf(pumpfun.id, anchorDiscriminator('sell').subarray(0, 7)), [])
  t.deepEqual(programsOf(pumpfun.id, new Uint8Array()), [])
  t.is(addressOf(pumpfun.id), pumpfun.id)
})
