import test from 'ava'
import fc from 'fast-check'
import { addressFromBytes } from '../domain/address.ts'
import { isQuoteMint } from '../domain/quote.ts'
import type { DecodedRecord } from '../domain/slot.ts'
import type { Transaction } from '../domain/transaction.ts'
import { createWallets } from '../domain/wallets.ts'
import { normalizeGrpc } from '../ingest/wire/normalize-grpc.ts'
import { normalizeRpc } from '../ingest/wire/normalize-rpc.ts'
import { feePayers, readCorpus } from '../testing/corpus.ts'
import { toGrpcUpdate } from '../testing/encodings.ts'
import { mutateUpdate, randomFrom } from '../testing/mutate.ts'
import { createDecoder } from './decoder.ts'

// Transactions that move nothing, such as votes, would use up runs.
const recorded = readCorpus().filter(
  ({ encoding, tx }) => encoding === 'json' && tx.instructions.length > 3 && !tx.failed,
)
const onCorpus = recorded.length > 0 ? test : test.skip
const updates = recorded.map(({ json, tx }) => toGrpcUpdate(json, tx.slot, tx.index))
const wallets = createWallets(feePayers(recorded))
const decoder = createDecoder(wallets)
const ofCorpus = fc.nat(Math.max(0, recorded.length - 1))

/** Number of mutated transactions; `.ci/long` sets more. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 10_000)

onCorpus(
  `${RUNS} mutated transactions are decoded or refused without a throw, and their records are consistent (K7)`,
  (t) => {
    let decoded = 0
    fc.assert(
      fc.property(ofCorpus, fc.nat(), (which, seed) => {
        const tx = normalizeGrpc(mutateUpdate(updates[which]!, seed))
        if (tx.kind === 'malformed') return true
        const result = decoder.decode(tx, 1, () => 6)
        if (result.kind !== 'decoded') return false
        decoded++
        return isWhole(tx, result.records)
      }),
      { numRuns: RUNS },
    )
    t.true(decoded > RUNS / 4, `${decoded} decoded`)
  },
)

onCorpus('a mutated RPC response is read or refused without a throw', (t) => {
  fc.assert(
    fc.property(ofCorpus, fc.nat(), (which, seed) => {
      const random = randomFrom(seed)
      const json = structuredClone(recorded[which]!.json)
      for (let times = 0; times < 3; times++) spoil(json, random)
      const tx = normalizeRpc(json, { slot: 1, index: 0 })
      return tx.kind === 'malformed' || decoder.decode(tx, 1, () => 6).kind === 'decoded'
    }),
    { numRuns: RUNS / 50 },
  )
  t.pass()
})

/** Walks down a JSON value at random and replaces a leaf with junk. */
function spoil(json: unknown, random: () => number): void {
  let at = json
  for (;;) {
    // The cast is safe: `at` is an object or array, and both have entries by name.
    const parent = at as Record<string, unknown>
    const names = Object.keys(parent)
    const name = names[Math.floor(random() * names.length)]
    if (name === undefined) return
    const value = parent[name]
    if (typeof value === 'object' && value !== null && random() < 0.9) {
      at = value
      continue
    }
    const junk = [
      null,
      -1,
      1e300,
      'l0O',
      '',
      [],
      {},
      1.5,
      [null],
      { parsed: { type: 'transfer' } },
      true,
    ]
    parent[name] = junk[Math.floor(random() * junk.length)]
    return
  }
}

/**
 * Whether events are numbered without gaps, amounts are above zero, quotes are quote coins, and the
 * events of each base add up to its balance change.
 */
function isWhole(tx: Transaction, records: readonly DecodedRecord[]): boolean {
  const next = new Map<number, number>()
  const moved = new Map<string, bigint>()
  const exempt = new Set<number>()
  for (const record of records) {
    const { wallet } = record
    if (record.kind === 'undecoded') exempt.add(wallet)
    if (!('eventIndex' in record)) continue
    const expected = next.get(wallet) ?? 0
    if (record.eventIndex !== expected) return false
    next.set(wallet, expected + 1)
    if (record.kind === 'sol_transfer') {
      if (record.lamports <= 0n) return false
      continue
    }
    const swap = record.kind === 'swap'
    const [mint, amount] = swap
      ? [record.baseMint, record.baseAmount]
      : [record.mint, record.amount]
    if (amount <= 0n || isQuoteMint(mint)) return false
    if (swap && (record.quoteMint === null) !== record.quoteMismatch) return false
    if (swap && record.quoteMint !== null && record.quoteAmount <= 0n) return false
    if (swap && record.feeLamports < 0n) return false
    const isIn = swap ? record.side === 'buy' : record.direction === 'in'
    const key = `${wallet} ${mint}`
    moved.set(key, (moved.get(key) ?? 0n) + (isIn ? amount : -amount))
  }
  for (const [key, change] of ownBalances(tx)) {
    const wallet = Number(key.split(' ')[0])
    const difference = change - (moved.get(key) ?? 0n)
    // A difference of one unit may be an NFT whose decimals an instruction stated (rule B8a).
    if (!exempt.has(wallet) && difference * difference > 1n) return false
  }
  return true
}

/** Balance changes of bases by `wallet mint`. Empty when a balance names no owner. */
function ownBalances(tx: Transaction): Map<string, bigint> {
  const balances = [...tx.preTokenBalances, ...tx.postTokenBalances]
  const changes = new Map<string, bigint>()
  if (balances.some(({ owner }) => owner === null)) return changes
  // Escrows of order programs belong to the wallet (rule B2a); other tests cover them.
  const keys = tx.accountKeys.map((key) => addressFromBytes(key))
  if (keys.some((key) => /^(jupo|j1o2|DCA26)/.test(key))) return changes
  balances.forEach(({ owner, mint, amount }, i) => {
    const wallet = owner === null ? undefined : wallets.numberOf(owner)
    if (wallet === undefined || isQuoteMint(mint)) return
    const key = `${wallet} ${mint}`
    const sign = i < tx.preTokenBalances.length ? -1n : 1n
    changes.set(key, (changes.get(key) ?? 0n) + sign * amount)
  })
  return changes
}
