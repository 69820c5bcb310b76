import { WireReader } from './wire-reader.ts'

/** A signed transaction as RPC returns it in encoding `json`, without its outcome. */
export interface WireTransaction {
  readonly version: 'legacy' | 0 | 1
  readonly transaction: {
    /** Base58. */
    readonly signatures: readonly string[]
    readonly message: {
      readonly header: MessageHeader
      /** The message's own account keys, base58. Keys of lookup tables are not in the bytes. */
      readonly accountKeys: readonly string[]
      readonly recentBlockhash: string
      readonly instructions: readonly WireInstruction[]
      /** Version 0 only. */
      readonly addressTableLookups?: readonly WireLookup[]
      /** Version 1 only. */
      readonly transactionConfig?: WireConfig
    }
  }
}

interface MessageHeader {
  readonly numRequiredSignatures: number
  readonly numReadonlySignedAccounts: number
  readonly numReadonlyUnsignedAccounts: number
}

/** An instruction. Program and accounts are indexes of account keys; data is base58. */
export interface WireInstruction {
  readonly programIdIndex: number
  readonly accounts: readonly number[]
  readonly data: string
  /** Not in the bytes; RPC adds it. */
  readonly stackHeight?: number | null
}

interface WireLookup {
  readonly accountKey: string
  readonly writableIndexes: readonly number[]
  readonly readonlyIndexes: readonly number[]
}

/**
 * The compute budget of a version 1 transaction; null where it sets none. The priority fee is a
 * total in lamports, exact below 2^53.
 */
export interface WireConfig {
  readonly priorityFee: number | null
  readonly computeUnitLimit: number | null
  readonly loadedAccountsDataSizeLimit: number | null
  readonly heapSize: number | null
}

/**
 * Reads the bytes of a signed transaction of version legacy, 0 or 1. Returns null when they are too
 * short, too long, of another version, or break a limit of version 1. Never throws.
 */
export function readWireTransaction(bytes: Uint8Array): WireTransaction | null {
  const reader = new WireReader(bytes)
  const read = bytes[0] === VERSION_1 ? readVersion1(reader) : readLegacyOrVersion0(reader)
  if (read === null || reader.at !== bytes.length) return null
  const { header, accountKeys } = read.transaction.message
  if (read.transaction.signatures.length === 0) return null
  const signers = header.numRequiredSignatures
  return signers < 1 || signers > accountKeys.length ? null : read
}

/** First byte of a version 0 message, after the signatures. */
const VERSION_0 = 0x80
/** First byte of a version 1 transaction. Others begin with a signature count, below 0x80. */
const VERSION_1 = 0x81

/** Limits of a version 1 transaction. Source: SIMD-0385. */
const MOST_BYTES = 4096
const MOST_SIGNATURES = 12
const MOST_ACCOUNTS = 64
const MOST_INSTRUCTIONS = 64

/**
 * Layout (solana-sdk `transaction`, `message`, `short_vec`), where a list is a compact-u16 count
 * and its items:
 * - list of signatures, 64 bytes each;
 * - u8 0x80, in version 0 only;
 * - header: u8 signers, u8 readonly signers, u8 readonly others;
 * - list of keys, 32 bytes each;
 * - blockhash, 32 bytes;
 * - list of instructions: u8 program, list of u8 accounts, list of data bytes;
 * - list of lookups, in version 0 only: table key, list of writable u8, list of readonly u8.
 */
function readLegacyOrVersion0(reader: WireReader): WireTransaction | null {
  const signatures = reader.list(() => reader.base58(64))
  const first = reader.peek()
  if (first > VERSION_0) return null
  const version = first === VERSION_0 ? 0 : 'legacy'
  if (version === 0) reader.uint(1)
  const header = readHeader(reader)
  const accountKeys = reader.list(() => reader.base58(32))
  const recentBlockhash = reader.base58(32)
  const instructions = reader.list(() => ({
    programIdIndex: reader.uint(1),
    accounts: [...reader.take(reader.count())],
    data: reader.base58(reader.count()),
  }))
  const message = { header, accountKeys, recentBlockhash, instructions }
  if (version === 'legacy') return { version, transaction: { signatures, message } }
  const addressTableLookups = reader.list(() => ({
    accountKey: reader.base58(32),
    writableIndexes: [...reader.take(reader.count())],
    readonlyIndexes: [...reader.take(reader.count())],
  }))
  return { version, transaction: { signatures, message: { ...message, addressTableLookups } } }
}

/**
 * Layout (SIMD-0385), with integers in little-endian order:
 * - u8 0x81;
 * - header: u8 signers, u8 readonly signers, u8 readonly others;
 * - config mask u32: bits 0 and 1 priority fee, 2 compute unit limit, 3 loaded accounts data size
 *   limit, 4 heap size;
 * - blockhash, 32 bytes;
 * - u8 number of instructions, u8 number of keys;
 * - keys, 32 bytes each;
 * - config values, in the order of their bits: u64 priority fee, u32 each of the others;
 * - a head for each instruction: u8 program, u8 number of accounts, u16 bytes of data;
 * - for each instruction its accounts, u8 each, and its data;
 * - signatures, 64 bytes each, as many as there are signers.
 */
function readVersion1(reader: WireReader): WireTransaction | null {
  if (reader.size > MOST_BYTES) return null
  reader.uint(1)
  const header = readHeader(reader)
  const mask = reader.uint(4)
  const recentBlockhash = reader.base58(32)
  const instructionCount = reader.uint(1)
  const accountKeys = repeat(reader.uint(1), () => reader.base58(32))
  const transactionConfig = readConfig(reader, mask)
  const heads = repeat(instructionCount, () => ({
    programIdIndex: reader.uint(1),
    accounts: reader.uint(1),
    bytes: reader.uint(2),
  }))
  const instructions = heads.map(({ programIdIndex, accounts, bytes }) => ({
    programIdIndex,
    accounts: [...reader.take(accounts)],
    data: reader.base58(bytes),
  }))
  const signatures = repeat(header.numRequiredSignatures, () => reader.base58(64))
  if (transactionConfig === null || !isWithinLimits(header, accountKeys, instructionCount)) {
    return null
  }
  const message = { header, accountKeys, recentBlockhash, instructions, transactionConfig }
  return { version: 1, transaction: { signatures, message } }
}

/** Reads the config values; null for half of a pair of bits, and for unknown bits. */
function readConfig(reader: WireReader, mask: number): WireConfig | null {
  const fee = mask & 0b11
  if ((fee !== 0 && fee !== 0b11) || mask > 0b11111) return null
  const value = (bit: number) => ((mask & bit) === 0 ? null : reader.uint(4))
  return {
    priorityFee: fee === 0 ? null : reader.uint(8),
    computeUnitLimit: value(0b100),
    loadedAccountsDataSizeLimit: value(0b1000),
    heapSize: value(0b10000),
  }
}

function isWithinLimits(
  header: MessageHeader,
  accountKeys: readonly string[],
  instructionCount: number,
): boolean {
  const { numRequiredSignatures: signers, numReadonlyUnsignedAccounts: readonly } = header
  return (
    instructionCount <= MOST_INSTRUCTIONS &&
    signers <= MOST_SIGNATURES &&
    header.numReadonlySignedAccounts < signers &&
    accountKeys.length <= MOST_ACCOUNTS &&
    accountKeys.length >= signers + readonly &&
    new Set(accountKeys).size === accountKeys.length
  )
}

function readHeader(reader: WireReader): MessageHeader {
  return {
    numRequiredSignatures: reader.uint(1),
    numReadonlySignedAccounts: reader.uint(1),
    numReadonlyUnsignedAccounts: reader.uint(1),
  }
}

function repeat<T>(times: number, read: () => T): T[] {
  return Array.from({ length: times }, read)
}
