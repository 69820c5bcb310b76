import test from 'ava'
import { addressFromBytes } from '../domain/address.ts'
import { createWallets } from '../domain/wallets.ts'
import { normalizeGrpc } from '../ingest/wire/normalize-grpc.ts'
import { aTransaction } from '../testing/a-transaction.ts'
import { feePayers, readCorpus } from '../testing/corpus.ts'
import { toGrpcUpdate, version1Differences } from '../testing/encodings.ts'
import { balanceChanges, isNft } from './balance-changes.ts'
import { decodeWallet } from './decode-wallet.ts'
import { createDecoder } from './decoder.ts'
import { QUOTES } from './mint-table.ts'
import { findNamedWallets } from './named-wallets.ts'
import { netFlows } from './net-flows.ts'
import { reconcileQuotes } from './reconciliation.ts'
import { REGISTRY } from './registry.ts'
import { readTransactionFacts } from './transaction-facts.ts'

const recorded = readCorpus()
const onCorpus = recorded.length > 0 ? test : test.skip
const wallets = createWallets(feePayers(recorded))

/** Every wallet of every successful recorded transaction, with its decoding result. */
function* decodedWallets() {
  for (const { tx, signature } of recorded) {
    const named = tx.failed ? null : findNamedWallets(tx, wallets)
    if (named === null) continue
    const facts = readTransactionFacts(tx, named, wallets, REGISTRY)
    for (const wallet of named.wallets) {
      yield { signature, facts, wallet, decoded: decodeWallet(facts, wallet) }
    }
  }
}

onCorpus(
  'the balance change of every base is swap legs plus transfers, for every recorded fee payer (B12)',
  (t) => {
    for (const { signature, facts, wallet, decoded } of decodedWallets()) {
      const sums = balanceChanges(facts, wallet).map(() => 0n)
      for (const { mint, amount, side } of decoded.swaps)
        sums[mint]! += side === 'buy' ? amount : -amount
      for (const { mint, amount } of decoded.transfers) sums[mint]! += amount
      const changes = balanceChanges(facts, wallet)
      for (let mint = QUOTES; mint < sums.length; mint++) {
        const change = changes[mint]!
        if (!isNft(facts, mint, change - sums[mint]!)) t.is(sums[mint], change, signature)
      }
    }
  },
)

/**
 * Recorded transactions in which tokens change hands without a transfer: by SetAuthority, and one
 * from before nodes kept token balances.
 */
const WITHOUT_TRANSFER = ['2vYBas6Px', '2mTostoa2', '3ACX53v5Z']

onCorpus(
  'moves by instructions equal balance changes, token by token, for every recorded account owner (B5)',
  (t) => {
    for (const { tx, signature } of recorded) {
      if (tx.failed || WITHOUT_TRANSFER.some((start) => signature.startsWith(start))) continue
      const owners = [...tx.preTokenBalances, ...tx.postTokenBalances].flatMap(
        ({ owner }) => owner ?? [],
      )
      const everybody = createWallets([
        ...new Set([...owners, addressFromBytes(tx.accountKeys[0]!)]),
      ])
      const named = findNamedWallets(tx, everybody)
      if (named === null) continue
      const facts = readTransactionFacts(tx, named, everybody, REGISTRY)
      for (const wallet of named.wallets) {
        const flows = netFlows(facts, wallet, { first: 0, end: tx.instructions.length })
        const changes = balanceChanges(facts, wallet)
        for (let mint = 1; mint < flows.length; mint++)
          t.is(flows[mint], changes[mint] ?? 0n, signature)
      }
    }
  },
)

onCorpus(
  'every lamport, USDC and USDT of every recorded fee payer is accounted for by name',
  (t) => {
    for (const { signature, facts, wallet, decoded } of decodedWallets()) {
      for (const account of reconcileQuotes(facts, wallet, decoded)) {
        const { change, ...parts } = account
        const sum = Object.values(parts).reduce((total, part) => total + part, 0n)
        t.is(sum, change, signature)
      }
    }
  },
)

onCorpus('a transaction gives the same records in each encoding', (t) => {
  const decoder = createDecoder(wallets)
  for (const { tx, json, encoding, blockTime } of recorded) {
    if (encoding !== 'json') continue
    const update = aTransaction(normalizeGrpc(toGrpcUpdate(json, tx.slot, tx.index)))
    t.deepEqual(decoder.decode(update, blockTime), decoder.decode(tx, blockTime))
  }
})

onCorpus('a transaction rewritten in version 1 gives the same records on every path', (t) => {
  const decoder = createDecoder(wallets)
  for (const one of recorded) t.deepEqual(version1Differences(one, decoder), [], one.signature)
})

onCorpus('the records of a wallet do not depend on which other wallets are tracked (A)', (t) => {
  const everybody = createDecoder(wallets)
  for (const { tx, blockTime } of recorded) {
    const payer = addressFromBytes(tx.accountKeys[0]!)
    const alone = createDecoder(createWallets([payer])).decode(tx, blockTime)
    const among = everybody.decode(tx, blockTime)
    if (alone.kind !== 'decoded' || among.kind !== 'decoded') {
      t.is(alone.kind, among.kind)
      continue
    }
    const number = wallets.numberOf(payer)
    const own = among.records.filter(({ wallet }) => wallet === number)
    t.deepEqual(
      alone.records,
      own.map((record) => ({ ...record, wallet: 1 })),
    )
  }
})
