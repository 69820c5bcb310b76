import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import bs58 from 'bs58'
import { createDecoder } from '../../pipeline/decode/decoder.ts'
import { knownProgram } from '../../pipeline/decode/registry.ts'
import { type Address, addressFromBytes } from '../../pipeline/domain/address.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import type { Transaction } from '../../pipeline/domain/transaction.ts'
import { createWallets } from '../../pipeline/domain/wallets.ts'
import { normalizeRpc } from '../../pipeline/ingest/wire/normalize-rpc.ts'
import type { ContractTrade } from './customer.ts'
import { ROOT } from './service-process.ts'
import { contractTrade } from './trade-item.ts'

const BLOCKS = join(ROOT, '../shared/corpus/blocks')

/**
 * The two recorded mainnet blocks of the corpus, oldest first, or null where the corpus is absent.
 */
export const BLOCK_FILES: readonly string[] | null = existsSync(BLOCKS)
  ? ['254170887.jsonl.gz', '432104870.jsonl.gz'].map((name) => join(BLOCKS, name))
  : null

interface RecordedTransaction {
  readonly blockTime: number
  readonly transaction: Transaction
}

/** The transactions of one file, in block order. */
function readBlock(file: string): RecordedTransaction[] {
  return gunzipSync(readFileSync(file))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line, index) => {
      // see the corpus's README
      const json = JSON.parse(line) as { slot: number; blockTime: number }
      const transaction = normalizeRpc(json, { slot: json.slot, index })
      if (transaction.kind === 'malformed') throw new Error(`${file}:${index + 1} is malformed`)
      return { blockTime: json.blockTime, transaction }
    })
}

/**
 * Fee payers of the successful transactions that call a venue, router or order program, in block
 * order.
 */
function traders(block: readonly RecordedTransaction[]): Address[] {
  const calls = ({ accountKeys, instructions }: Transaction) =>
    instructions.some(({ programIndex }) => {
      const program = knownProgram(accountKeys[programIndex] ?? new Uint8Array(32))
      return program !== null && ['venue', 'router', 'order'].includes(program.kind)
    })
  const payers = block
    .filter(({ transaction }) => !transaction.failed && calls(transaction))
    .map(({ transaction }) => addressFromBytes(transaction.accountKeys[0] ?? new Uint8Array()))
  return [...new Set(payers)]
}

/**
 * Expected results of a service that tracks `wallets` after the blocks, computed by decoding them
 * directly.
 */
export interface RecordedTruth {
  /** 100 traders of the blocks. */
  readonly wallets: readonly Address[]
  /** Their trades in event-key order. */
  readonly trades: readonly ContractTrade[]
  /** Unix seconds of the newest block. */
  readonly lastBlockTime: number
}

/** Decodes the blocks of some files directly. */
export function recordedTruth(files: readonly string[]): RecordedTruth {
  const blocks = files.map(readBlock)
  const wallets = [...new Set(blocks.flatMap(traders))].slice(0, 100)
  const decoder = createDecoder(createWallets(wallets))
  const swaps = blocks
    .flat()
    .flatMap(({ transaction, blockTime }) => {
      const decoded = decoder.decode(transaction, blockTime)
      if (decoded.kind === 'needs_decimals') throw new Error(bs58.encode(transaction.signature))
      return decoded.records
    })
    .filter((record): record is Swap => record.kind === 'swap')
    .sort(compareEventKeys)
  return {
    wallets,
    trades: swaps.map(contractTrade),
    lastBlockTime: Math.max(...blocks.flat().map(({ blockTime }) => blockTime)),
  }
}
