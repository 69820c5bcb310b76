import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import test from 'ava'
import bs58 from 'bs58'
import fc from 'fast-check'
import { createDecoder } from '../../../pipeline/decode/decoder.ts'
import type { Address } from '../../../pipeline/domain/address.ts'
import { createWallets } from '../../../pipeline/domain/wallets.ts'
import { normalizeGrpc } from '../../../pipeline/ingest/wire/normalize-grpc.ts'
import { toBase64Json } from '../../corpus/to-base64-json.ts'
import { accountKeysOf } from '../block.ts'
import { createChainShape } from '../chain-shape.ts'
import { addTo } from '../memo.ts'
import { infoFromJson } from '../rpc/info-from-json.ts'
import { jsonFromInfo, type TransactionJson } from '../rpc/transaction-json.ts'
import { createMarket, type Market } from './market.ts'

const START = 405_000_000

function open(seed: number, trouble = { skippedSlots: false, forks: false }, wallets = 25): Market {
  const options = { seed, wallets, coins: 60, trackedPerSlot: wallets / 12, othersPerSlot: 1 }
  return createMarket(options, createChainShape(seed, trouble))
}

test('a slot is the same whatever was computed before, in another process or after a restart', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      fc.integer({ min: 0, max: 4_000 }),
      fc.boolean(),
      (seed, offset, troubled) => {
        const trouble = { skippedSlots: troubled, forks: troubled }
        const shape = createChainShape(seed, trouble)
        const slot = shape.atOrAfter(START + offset)
        const walked = open(seed, trouble, 10)
        for (let at = slot - 20; at < slot; at += 1) walked.block(shape.atOrAfter(at))
        t.deepEqual(open(seed, trouble, 10).block(slot), walked.block(slot))
        t.deepEqual(open(seed, trouble, 10).truth(slot), walked.truth(slot))
      },
    ),
    { numRuns: 4 },
  )
})

test('balances of tracked wallets continue from transaction to transaction', (t) => {
  const market = open(7)
  const tracked = new Set(market.universe.wallets.map((wallet) => wallet.key.address as string))
  const lamports = new Map<string, string>()
  const tokens = new Map<string, string>()
  let compared = 0
  for (let slot = START; slot < START + 400; slot += 1) {
    for (const info of market.block(slot).transactions) {
      const { meta } = info
      const keys = accountKeysOf(info).map((key) => bs58.encode(key))
      keys.forEach((key, index) => {
        if (!tracked.has(key)) return
        const before = lamports.get(key)
        if (before !== undefined) {
          t.is(meta!.preBalances[index], before)
          compared += 1
        }
        lamports.set(key, meta!.postBalances[index]!)
      })
      for (const balance of meta!.preTokenBalances.filter(({ owner }) => tracked.has(owner))) {
        const before = tokens.get(keys[balance.accountIndex]!)
        if (before !== undefined) t.is(balance.uiTokenAmount!.amount, before)
      }
      for (const balance of meta!.postTokenBalances.filter(({ owner }) => tracked.has(owner))) {
        tokens.set(keys[balance.accountIndex]!, balance.uiTokenAmount!.amount)
      }
      const moved = (amounts: readonly string[]) => amounts.reduce((sum, n) => sum + BigInt(n), 0n)
      t.is(moved(meta!.preBalances) - moved(meta!.postBalances), BigInt(meta!.fee))
    }
  }
  t.true(compared > 300)
})

test('the decoder finds exactly what the market meant, on every venue', (t) => {
  const seen = new Set<string>()
  for (const seed of [1, 2, 3]) {
    const market = open(seed)
    const decoder = createDecoder(
      createWallets(market.universe.wallets.map(({ key }) => key.address)),
    )
    const decimals = new Map(
      market.universe.coins.map(({ mint }) => [mint.key.address, mint.decimals]),
    )
    for (let slot = START; slot < START + 500; slot += 1) {
      const block = market.block(slot)
      const truth = market.truth(slot)
      const decoded = block.transactions.flatMap((info) => {
        const transaction = normalizeGrpc({ slot: String(slot), transaction: info })
        if (!('instructions' in transaction)) return []
        const result = decoder.decode(transaction, block.time, (mint: Address) =>
          decimals.get(mint),
        )
        return result.kind === 'decoded' ? result.records : []
      })
      t.deepEqual(decoded, truth.records)
      for (const event of truth.events) {
        seen.add(event.kind === 'swap' ? `${event.program} ${event.side}` : event.kind)
      }
    }
  }
  const venues =
    'pumpfun pumpswap raydium_amm raydium_clmm orca_whirlpool meteora_dlmm jupiter jupiter_rfq unknown'
  const wanted = venues.split(' ').flatMap((venue) => [`${venue} buy`, `${venue} sell`])
  t.deepEqual([...seen].sort(), [...wanted, 'token_transfer', 'sol_transfer'].sort())
})

test('transactions fit into a packet, with 64 accounts at most and distinct signatures', (t) => {
  const market = open(5)
  const signatures = new Set<string>()
  const forms = new Map<string, number>()
  for (let slot = START; slot < START + 200; slot += 1) {
    market.block(slot).transactions.forEach((info, index) => {
      const json = jsonFromInfo(info)
      const { writable, readonly } = json.meta.loadedAddresses!
      const loaded = writable.length + readonly.length
      const { transaction } = toBase64Json(json) as { transaction: [string, string] }
      t.true(Buffer.from(transaction[0], 'base64').length <= (json.version === 1 ? 4_096 : 1_232))
      t.true(json.transaction.message.accountKeys.length + loaded <= 64)
      const form = loaded > 0 ? `${json.version} with tables` : String(json.version)
      forms.set(form, (forms.get(form) ?? 0) + 1)
      t.deepEqual(market.signatures.read(info.signature), { slot, index })
      signatures.add(bs58.encode(info.signature))
    })
  }
  t.is(market.signatures.read(Buffer.alloc(64, 9)), null)
  const total = [...forms.values()].reduce((sum, count) => sum + count, 0)
  t.is(signatures.size, total)
  t.deepEqual([...forms.keys()].sort(), ['0', '0 with tables', '1', 'legacy'])
  for (const version of ['legacy', '0', '1']) t.true(forms.get(version)! >= total / 10, version)
})

test('a transaction of version 1 has its compute budget in the config alone, and pays it', (t) => {
  const market = open(5)
  const budget = 'ComputeBudget111111111111111111111111111111'
  let found = 0
  for (let slot = START; slot < START + 50; slot += 1) {
    for (const info of market.block(slot).transactions) {
      const { version, transaction, meta } = jsonFromInfo(info)
      const { accountKeys, header, transactionConfig } = transaction.message
      if (version !== 1) {
        t.is(transactionConfig, undefined)
        continue
      }
      found += 1
      t.false(accountKeys.includes(budget))
      const base = 5_000 * header.numRequiredSignatures
      t.is(meta.fee, base + transactionConfig!.priorityFee!)
      t.true(meta.computeUnitsConsumed! <= transactionConfig!.computeUnitLimit!)
    }
  }
  t.true(found > 20)
})

const BLOCK = join('..', 'shared', 'corpus', 'blocks', '432104870.jsonl.gz')
const TRANSACTIONS = join('..', 'shared', 'corpus', 'transactions.jsonl.gz')
const withCorpus = existsSync(BLOCK) && existsSync(TRANSACTIONS)

/**
 * The form of an instruction: program, discriminator, number of accounts and bytes, and its inner
 * calls.
 */
interface Shape {
  readonly head: string
  readonly accounts: number
  readonly bytes: number
  readonly calls: readonly string[]
}

;(withCorpus ? test : test.skip)(
  `instructions, the calls they make and their events are laid out as in recorded transactions${withCorpus ? '' : ' (skipped: ../shared/corpus is absent)'}`,
  (t) => {
    const recorded = new Map<string, Shape[]>()
    for (const file of [BLOCK, TRANSACTIONS]) {
      for (const line of gunzipSync(readFileSync(file)).toString('utf8').trim().split('\n')) {
        const json = JSON.parse(line) as TransactionJson & { _source: { encoding: string } }
        if (json._source.encoding !== 'json' || json.meta.err != null) continue
        for (const shape of shapesOf(infoFromJson(json, 0))) {
          addTo(recorded, shape.head, shape)
        }
      }
    }
    const market = open(11)
    const missing = new Set<string>()
    const compared = new Set<string>()
    for (let slot = START; slot < START + 300; slot += 1) {
      for (const info of market.block(slot).transactions) {
        if (info.meta!.err !== undefined) continue
        for (const shape of shapesOf(info)) {
          const examples = recorded.get(shape.head)
          if (examples === undefined) continue
          compared.add(shape.head)
          const alike = examples.some(
            (example) =>
              // The number of tick and bin arrays at the end varies.
              Math.abs(example.accounts - shape.accounts) <= 2 &&
              example.bytes === shape.bytes &&
              shape.calls.every((call) => example.calls.includes(call)),
          )
          if (!alike) missing.add(`${shape.head} ${shape.accounts} ${shape.bytes} ${shape.calls}`)
        }
      }
    }
    t.deepEqual([...missing], [])
    t.log([...compared].sort().join(', '))
    t.true(compared.size >= 9)
  },
)

const SHAPED: Readonly<Record<string, number>> = {
  '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P': 8,
  pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA: 8,
  '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8': 1,
  CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK: 8,
  whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc: 8,
  LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo: 8,
  '61DFfeTKM7trxYcPQCM78bJ794ddZprZpAwAnLiwTpYH': 8,
}

/**
 * Returns the shapes of all instructions of the programs in `SHAPED`, at any depth. Inner calls are
 * given as program, first byte or discriminator, and length.
 */
function shapesOf(info: ReturnType<typeof infoFromJson>): Shape[] {
  const { message } = info.transaction!
  const keys = accountKeysOf(info).map((key) => bs58.encode(key))
  const flat = message!.instructions.flatMap((instruction, index) => [
    { ...instruction, height: 1 },
    ...(
      info.meta!.innerInstructions.find((inner) => inner.index === index)?.instructions ?? []
    ).map((inner) => ({ ...inner, height: inner.stackHeight ?? 2 })),
  ])
  const hex = (data: Uint8Array, length: number) =>
    Buffer.from(data.subarray(0, length)).toString('hex')
  return flat.flatMap((instruction, position): Shape[] => {
    const program = keys[instruction.programIdIndex]!
    const length = SHAPED[program]
    const head = `${program.slice(0, 8)} ${hex(instruction.data, length ?? 0)}`
    // An event that a program emits by a self-call belongs to its caller.
    if (length === undefined || head.endsWith('e445a52e51cb9a1d')) return []
    const calls: string[] = []
    for (const called of flat.slice(position + 1)) {
      if (called.height <= instruction.height) break
      const name = keys[called.programIdIndex]!
      const known = SHAPED[name] ?? (name.startsWith('Token') ? 1 : 4)
      // An event is identified by its own discriminator, after that of the call, and by its length.
      const event = known === 8 ? `:${called.data.length}` : ''
      calls.push(`${name.slice(0, 6)} ${hex(called.data, known === 8 ? 16 : known)}${event}`)
    }
    return [{ head, accounts: instruction.accounts.length, bytes: instruction.data.length, calls }]
  })
}
