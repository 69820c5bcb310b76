import test, { type ExecutionContext } from 'ava'
import bs58 from 'bs58'
import { accountKeysOf } from '../block.ts'
import { associatedTokenAccount } from '../market/key.ts'
import { addTo } from '../memo.ts'
import type { SimulatorOptions } from '../options.ts'
import { type Simulator, startSimulator } from '../simulator.ts'
import { callRpc } from '../testing/client.ts'
import { decodeTransactionError, encodeTransactionError } from './transaction-error.ts'
import { jsonFromInfo } from './transaction-json.ts'

const START = 405_000_000
const CONFIRMED = { commitment: 'confirmed' } as const
const FULL = { ...CONFIRMED, maxSupportedTransactionVersion: 1 } as const

async function start(t: ExecutionContext, options: SimulatorOptions = {}): Promise<Simulator> {
  const clock = { kind: 'manual', startSlot: START } as const
  const simulator = await startSimulator({
    clock,
    wallets: 5,
    coins: 40,
    othersPerSlot: 2,
    ...options,
  })
  t.teardown(() => simulator.close())
  return simulator
}

interface SignatureInfo {
  readonly signature: string
  readonly slot: number
  readonly err: unknown
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

test('getBlock and the stream have the same transactions, in every detail', async (t) => {
  const simulator = await start(t)
  const slot = START - 40
  const block = simulator.market.block(slot)
  const infos = block.transactions
  const head = {
    blockHeight: block.height,
    blockTime: block.time,
    blockhash: block.blockhash,
    parentSlot: slot - 1,
    previousBlockhash: block.parentBlockhash,
  }
  t.deepEqual(await callRpc(simulator, 'getBlock', slot, { ...FULL, rewards: false }), {
    ...head,
    transactions: plain(infos.map((info) => jsonFromInfo(info))),
  })
  const base64 = await callRpc(simulator, 'getBlock', slot, { ...FULL, encoding: 'base64' })
  t.like(base64, { error: { code: -32_602 } })
  const signatures = { ...FULL, rewards: false, transactionDetails: 'signatures' }
  t.deepEqual(await callRpc(simulator, 'getBlock', slot, signatures), {
    ...head,
    signatures: infos.map((info) => bs58.encode(info.signature)),
  })
  const none = { ...FULL, transactionDetails: 'none' }
  t.deepEqual(await callRpc(simulator, 'getBlock', slot, none), { ...head, rewards: [] })
  t.is(await callRpc(simulator, 'getBlockTime', slot), block.time)
})

test('unavailable blocks are refused with the codes of a node', async (t) => {
  const simulator = await start(t, { historySlots: 100, trouble: { skippedSlots: true } })
  const produced = (await callRpc(
    simulator,
    'getBlocks',
    START - 60,
    START - 40,
    CONFIRMED,
  )) as number[]
  const skipped = Array.from({ length: 21 }, (_, i) => START - 60 + i).find(
    (slot) => !produced.includes(slot),
  )!
  const codeOf = async (slot: number, config: object) =>
    ((await callRpc(simulator, 'getBlock', slot, config)) as { error: { code: number } }).error.code
  t.is(await codeOf(START + 5, FULL), -32_004)
  t.is(await codeOf(START - 5, { maxSupportedTransactionVersion: 0 }), -32_004, 'not finalized yet')
  t.is(await codeOf(START - 200, FULL), -32_001)
  t.is(await codeOf(skipped, FULL), -32_007)
  const first = (await callRpc(simulator, 'getFirstAvailableBlock')) as number
  t.true(first >= START - 99 && first <= START - 97)
})

test('a caller that declares too low a version gets no transaction, and no block that holds one', async (t) => {
  const simulator = await start(t)
  const highest = (slot: number) =>
    Math.max(
      ...simulator.market
        .block(slot)
        .transactions.map((info) => jsonFromInfo(info).version)
        .map((version) => (version === 'legacy' ? -1 : version)),
    )
  const refusal = (version: number) => ({
    error: {
      code: -32_015,
      message: `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
    },
  })
  const slots = Array.from({ length: 60 }, (_, at) => START - 60 + at)
  const seen = new Set<number>()
  for (const slot of slots) {
    const version = highest(slot)
    seen.add(version)
    for (const declared of [undefined, 0, 1]) {
      const answer = await callRpc(simulator, 'getBlock', slot, {
        ...CONFIRMED,
        maxSupportedTransactionVersion: declared,
      })
      if (version <= (declared ?? -1)) t.like(answer, { parentSlot: slot - 1 })
      else if (declared === 0) t.deepEqual(answer, refusal(1))
      else t.like(answer, { error: { code: -32_015 } })
    }
  }
  t.true(seen.has(0) && seen.has(1))
  const infos = simulator.market.block(slots.find((slot) => highest(slot) === 1)!).transactions
  const info = infos.find((one) => jsonFromInfo(one).version === 1)!
  const signature = bs58.encode(info.signature)
  const ask = (config: object) => callRpc(simulator, 'getTransaction', signature, config)
  t.deepEqual(await ask({ ...FULL, maxSupportedTransactionVersion: 0 }), refusal(1))
  t.deepEqual(await ask(CONFIRMED), refusal(1))
  t.like(await ask(FULL), { version: 1, transaction: plain(jsonFromInfo(info).transaction) })
})

test('slots and ranges of slots follow the commitment', async (t) => {
  const simulator = await start(t)
  t.is(await callRpc(simulator, 'getSlot', { commitment: 'processed' }), START)
  t.is(await callRpc(simulator, 'getSlot', CONFIRMED), START - 1)
  t.is(await callRpc(simulator, 'getSlot'), START - 32)
  t.deepEqual(await callRpc(simulator, 'getBlocks', START - 3, START, CONFIRMED), [
    START - 3,
    START - 2,
    START - 1,
  ])
  t.deepEqual(await callRpc(simulator, 'getBlocks', START - 34), [
    START - 34,
    START - 33,
    START - 32,
  ])
})

test('signatures of an address come newest first, in pages, and lead to transactions and statuses', async (t) => {
  const simulator = await start(t, { historySlots: 400 })
  const wallet = simulator.wallets[0]!
  const page = async (config: object) =>
    (await callRpc(simulator, 'getSignaturesForAddress', wallet, {
      ...CONFIRMED,
      ...config,
    })) as SignatureInfo[]
  const all = await page({})
  const expected: string[] = []
  for (let slot = START - 1; slot > START - 400; slot -= 1) {
    const infos = simulator.market.block(slot).transactions
    const numbers = simulator.truth(slot).balances.filter((record) => record.wallet === 1)
    for (const { txIndex } of numbers.reverse())
      expected.push(bs58.encode(infos[txIndex]!.signature))
  }
  t.deepEqual(
    all.map(({ signature }) => signature),
    expected,
  )
  t.true(all.length > 20)
  t.deepEqual(await page({ limit: 4 }), all.slice(0, 4))
  t.deepEqual(await page({ limit: 4, before: all[3]!.signature }), all.slice(4, 8))
  t.deepEqual(await page({ before: all[1]!.signature, until: all[6]!.signature }), all.slice(2, 6))
  const { signature, slot, err } = all[5]!
  const transaction = (await callRpc(simulator, 'getTransaction', signature, FULL)) as Record<
    string,
    unknown
  >
  t.like(transaction, { slot, blockTime: simulator.market.timeOf(slot), meta: { err } })
  const statuses = (await callRpc(simulator, 'getSignatureStatuses', [
    signature,
    bs58.encode(new Uint8Array(64)),
  ])) as {
    value: unknown[]
  }
  t.like(statuses.value[0], { slot, err })
  t.is(statuses.value[1], null)
})

test('every address has its own list, and a list is only as new and as old as the node', async (t) => {
  const simulator = await start(t, {
    historySlots: 200,
    trouble: { skippedSlots: true, forks: true },
  })
  const list = (address: string, config: object = {}) =>
    callRpc(simulator, 'getSignaturesForAddress', address, { ...CONFIRMED, ...config })
  const slots = (await callRpc(
    simulator,
    'getBlocks',
    START - 199,
    START - 1,
    CONFIRMED,
  )) as number[]
  const expected = new Map<string, string[]>()
  const transactions: unknown[] = []
  for (const slot of slots.toReversed()) {
    const infos = simulator.market.block(slot).transactions
    transactions.push(...infos.map((info, index) => [slot, index, info]))
    for (const info of [...infos].reverse()) {
      for (const key of new Set(accountKeysOf(info).map((bytes) => bs58.encode(bytes))))
        addTo(expected, key, bs58.encode(info.signature))
    }
  }
  for (const [slot, index, info] of transactions as [number, number, object][])
    t.deepEqual(simulator.market.transaction(slot, index), info as never)
  const { coins, wallets } = simulator.market.universe
  const accounts = wallets.flatMap(({ key }) =>
    coins.map((coin) => associatedTokenAccount(key, coin.mint.key, coin.mint.program).address),
  )
  const known = [...accounts, ...simulator.wallets].filter((address) => expected.has(address))
  t.true(known.length > 20)
  const pool = coins[0]!.key('pool').address
  for (const address of [...known, ...(expected.has(pool) ? [pool] : [])]) {
    const found = (await list(address)) as SignatureInfo[]
    t.deepEqual(
      found.map(({ signature }) => signature),
      expected.get(address)!,
    )
  }
  const wallet = simulator.wallets[0]!
  const error = async (config: object) =>
    ((await list(wallet, config)) as { error: { code: number } }).error.code
  t.is(await error({ minContextSlot: START }), -32_016)
  t.is(await error({ limit: 1001 }), -32_602)
  t.is(((await list(wallet, { minContextSlot: START - 5 })) as unknown[]).length > 0, true)
  const pruned = bs58.encode(simulator.market.signatures.of(START - 300, 0))
  t.deepEqual(await list(wallet, { before: pruned }), [])
  t.deepEqual(await list(wallet, { until: pruned }), await list(wallet))
})

test('accounts: mints, their metadata, the price pool, wallets and their token accounts', async (t) => {
  const simulator = await start(t)
  const { coins } = simulator.market.universe
  const coin = coins.find(({ venue }) => venue === 'raydium_amm')!
  const pump = coins.find(({ venue }) => venue === 'pumpfun')!
  const wallet = simulator.wallets[1]!
  const addresses = [
    coin.mint.key.address,
    pump.mint.key.address,
    simulator.solPricePool,
    wallet,
    bs58.encode(new Uint8Array(32).fill(9)),
  ]
  const { value } = (await callRpc(simulator, 'getMultipleAccounts', addresses, {
    ...CONFIRMED,
    encoding: 'base64',
  })) as {
    value: ({ data: [string, string]; owner: string; lamports: number } | null)[]
  }
  const data = value.map((account) =>
    account === null ? null : Buffer.from(account.data[0], 'base64'),
  )
  t.is(data[0]!.length, 82)
  t.deepEqual(
    [data[0]!.readBigUInt64LE(36), data[0]!.readUInt8(44)],
    [coin.supply, coin.mint.decimals],
  )
  t.true(data[1]!.includes(Buffer.from(pump.symbol)))
  t.is(value[1]!.owner, 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
  t.is(data[2]!.length, 653)
  const root =
    Number(data[2]!.readBigUInt64LE(65) + (data[2]!.readBigUInt64LE(73) << 64n)) / 2 ** 64
  t.true(root ** 2 * 1_000 > 130 && root ** 2 * 1_000 < 170)
  const balances: bigint[] = []
  for (let slot = START - 1; slot > START - 300 && balances.length === 0; slot -= 1) {
    for (const record of simulator.truth(slot).balances) {
      if (record.wallet === 2) balances.push(record.lamports)
    }
  }
  t.is(BigInt(value[3]!.lamports), balances.at(-1)!)
  t.is(value[4], null)
  const owned = (await callRpc(
    simulator,
    'getTokenAccountsByOwner',
    wallet,
    { mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
    { ...CONFIRMED, encoding: 'base64', dataSlice: { offset: 32, length: 32 } },
  )) as {
    value: { account: { data: [string, string] } }[]
  }
  t.deepEqual(
    owned.value.map(({ account }) => bs58.encode(Buffer.from(account.data[0], 'base64'))),
    [wallet],
  )
})

test('with trouble, some responses are 429 with Retry-After, and none is wrong', async (t) => {
  const simulator = await start(t, { trouble: { rateLimitedRpc: true } })
  const answers: unknown[] = []
  for (let i = 0; i < 60; i += 1) answers.push(await callRpc(simulator, 'getSlot', CONFIRMED))
  const refused = answers.filter((answer) => typeof answer === 'object')
  t.true(refused.length > 3 && refused.length < 30)
  t.deepEqual(refused[0], { status: 429, retryAfter: '1' })
  t.true(answers.filter((answer) => typeof answer === 'number').every((slot) => slot === START - 1))
})

test('pages of any origin may call, as a wallet in a browser does', async (t) => {
  const { rpcUrl } = await start(t)
  const origin = { origin: 'http://dashboard.example' }
  const headers = { ...origin, 'access-control-request-method': 'POST' }
  const preflight = await fetch(rpcUrl, { method: 'OPTIONS', headers })
  const fields = ['origin', 'methods', 'headers'].map((name) =>
    preflight.headers.get(`access-control-allow-${name}`),
  )
  t.deepEqual([preflight.status, ...fields], [204, '*', 'POST', 'content-type'])
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getHealth' })
  const answer = await fetch(rpcUrl, { method: 'POST', headers: origin, body })
  t.is(answer.headers.get('access-control-allow-origin'), '*')
  t.deepEqual(await answer.json(), { jsonrpc: '2.0', result: 'ok', id: 1 })
})

test('errors of transactions go to bincode and back', (t) => {
  const errors = [
    'AccountInUse',
    'CommitCancelled',
    { InstructionError: [3, { Custom: 6_003 }] },
    { InstructionError: [0, 'IllegalOwner'] },
    { InstructionError: [1, { BorshIoError: 'unexpected end' }] },
    { InsufficientFundsForRent: { account_index: 4 } },
    { DuplicateInstruction: 2 },
  ]
  for (const error of errors)
    t.deepEqual(decodeTransactionError(encodeTransactionError(error)), error)
  t.throws(() => encodeTransactionError('NoSuchError'), { instanceOf: RangeError })
})

test('requests above the limit of a second are 429 with Retry-After', async (t) => {
  const simulator = await start(t, { rpcPerSecond: 2 })
  const calls = Array.from({ length: 40 }, () => callRpc(simulator, 'getSlot', CONFIRMED))
  const answers = await Promise.all(calls)
  const refused = answers.filter((answer) => typeof answer === 'object')
  t.true(refused.length > 0 && refused.length <= 38)
  t.deepEqual(refused[0], { status: 429, retryAfter: '1' })
})
