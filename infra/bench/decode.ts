import type { SubscribeUpdateTransaction } from '@triton-one/yellowstone-grpc'
import { DexParser } from 'solana-dex-parser'
import { createDecoder } from '../../pipeline/decode/decoder.ts'
import { type Address, addressFromBytes } from '../../pipeline/domain/address.ts'
import { createWallets, type Wallets } from '../../pipeline/domain/wallets.ts'
import { normalizeGrpc } from '../../pipeline/ingest/wire/normalize-grpc.ts'
import { feePayers, readCorpus } from '../corpus/read-corpus.ts'
import { toGrpcUpdate } from '../corpus/to-grpc-update.ts'
import { startMeter } from './kit/cpu.ts'
import { median, print } from './kit/figures.ts'

/** Rounds over all recorded transactions; each contender runs once a round. */
const ROUNDS = 30

/**
 * `npm run bench -- decode [rounds]`: decodes recorded transactions from gRPC updates to events,
 * normalisation included. Our decoder runs with every fee payer tracked and with 250, 10,000 and
 * 1,000,000 wallets, interleaved with `solana-dex-parser` 2.6.7 in one process. Prints the median
 * round of each, in CPU time of the process with garbage collection.
 */
export async function run(args: readonly string[]): Promise<void> {
  const rounds = Number(args[0] ?? ROUNDS)
  const recorded = readCorpus().filter(({ encoding }) => encoding === 'json')
  if (recorded.length === 0) throw new Error('no recorded transactions: set CORPUS_DIR')
  const updates = recorded.map(({ json, tx }) => toGrpcUpdate(json, tx.slot, tx.index))
  const payers = feePayers(recorded)
  const some = payers.filter((_, i) => i % Math.ceil(payers.length / 250) === 0).slice(0, 250)
  const parser = new DexParser()
  const contenders = [
    { name: 'solana-dex-parser', decode: theirs(parser) },
    {
      name: `ours, ${payers.length} wallets: every fee payer`,
      decode: ours(createWallets(payers)),
    },
    { name: 'ours, 250 wallets', decode: ours(withRandomWallets(some, 250)) },
    { name: 'ours, 10,000 wallets', decode: ours(withRandomWallets(some, 10_000)) },
    { name: 'ours, 1,000,000 wallets', decode: ours(withRandomWallets(some, 1_000_000)) },
  ]
  const times = contenders.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    contenders.forEach(({ decode }, i) => {
      const meter = startMeter()
      for (const update of updates) decode(update)
      times[i]!.push((meter().cpuSeconds * 1e6) / updates.length)
    })
  }
  const medians = times.map(median)
  print(`${updates.length} recorded transactions, CPU time, median of ${rounds} rounds`)
  contenders.forEach(({ name }, i) => {
    const us = medians[i]!
    const ratio = (medians[0]! / us).toFixed(1)
    const perSecond = Math.round(1_000_000 / us).toLocaleString('en')
    print(
      `${name.padEnd(42)}${us.toFixed(2).padStart(9)} us${perSecond.padStart(12)} tx/s${ratio.padStart(8)} x`,
    )
  })
}

function ours(wallets: Wallets): (update: SubscribeUpdateTransaction) => void {
  const decoder = createDecoder(wallets)
  return (update) => {
    const tx = normalizeGrpc(update)
    if (tx.kind === 'transaction') decoder.decode(tx, 1_700_000_000)
  }
}

/**
 * In the shape that its adapter reads from a Yellowstone update: slot, block time, transaction and
 * meta side by side.
 */
function theirs(parser: DexParser): (update: SubscribeUpdateTransaction) => void {
  return (update) => {
    const tx = { ...update.transaction, slot: Number(update.slot), blockTime: 1_700_000_000 }
    // The cast is safe: the package declares types only for RPC responses.
    parser.parseAll(tx as unknown as Parameters<DexParser['parseAll']>[0])
  }
}

/** The given wallets, and unknown wallets up to `count`. */
function withRandomWallets(some: readonly Address[], count: number): Wallets {
  const randomWallets = Array.from({ length: count - some.length }, (_, i) => {
    const key = Buffer.alloc(32, 1)
    key.writeUInt32LE(Math.imul(i + 1, 0x9e3779b1) >>> 0, 20)
    key.writeUInt32LE(i + 1, 4)
    return addressFromBytes(key)
  })
  return createWallets([...some, ...randomWallets])
}
