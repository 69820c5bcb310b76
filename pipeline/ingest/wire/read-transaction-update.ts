import { ProtoReader } from './proto-reader.ts'
import type {
  GrpcTransactionUpdate,
  InnerInstructionsUpdate,
  InstructionUpdate,
  Integer,
  MessageUpdate,
  MetaUpdate,
  TokenBalanceUpdate,
  TransactionInfo,
} from './transaction-update.ts'

/**
 * The transaction of an encoded `SubscribeUpdate`; null when the bytes contain none. Equals the
 * result of the package's codec at a quarter of its cost: bytes are views, logs are decoded on
 * access, and unused fields are skipped. Field numbers: `geyser.proto` and `solana-storage.proto`
 * of yellowstone-grpc, as of package 7.0.1.
 */
export function readTransactionUpdate(bytes: Uint8Array): GrpcTransactionUpdate | null {
  const reader = new ProtoReader(bytes)
  let update: GrpcTransactionUpdate | null = null
  while (reader.next(bytes.length)) {
    if (reader.field === 4) update = reader.within(readUpdate)
  }
  return reader.broken ? null : update
}

/** Like `readTransactionUpdate`, for the bytes of a `SubscribeUpdateTransactionInfo`. */
export function readTransactionInfo(slot: number, bytes: Uint8Array): GrpcTransactionUpdate | null {
  const reader = new ProtoReader(bytes)
  const transaction = readInfo(reader, bytes.length)
  return reader.broken ? null : { slot, transaction }
}

/** SubscribeUpdateTransaction: 1 transaction, 2 slot. */
function readUpdate(reader: ProtoReader, end: number): GrpcTransactionUpdate {
  let slot = 0
  let transaction: TransactionInfo | undefined
  while (reader.next(end)) {
    if (reader.field === 1) transaction = reader.within(readInfo)
    else if (reader.field === 2) slot = reader.value
  }
  return { slot, transaction }
}

/** SubscribeUpdateTransactionInfo: 1 signature, 3 transaction {2 message}, 4 meta, 5 index. */
function readInfo(reader: ProtoReader, end: number): TransactionInfo {
  const { buffer, byteOffset } = reader.bytes
  const encoded = new Uint8Array(buffer, byteOffset + reader.at, end - reader.at)
  let signature: Uint8Array = NO_BYTES
  let index = 0
  let transaction: { message?: MessageUpdate | undefined } | undefined
  let meta: MetaUpdate | undefined
  while (reader.next(end)) {
    if (reader.field === 1) signature = reader.view()
    else if (reader.field === 3) transaction = reader.within(readSigned)
    else if (reader.field === 4) meta = reader.within(readMeta)
    else if (reader.field === 5) index = reader.value
  }
  return { encoded, signature, index, transaction, meta }
}

function readSigned(reader: ProtoReader, end: number): { message?: MessageUpdate | undefined } {
  let message: MessageUpdate | undefined
  while (reader.next(end)) if (reader.field === 2) message = reader.within(readMessage)
  return { message }
}

/** Message: 1 header {1 required signatures}, 2 account keys, 4 instructions. */
function readMessage(reader: ProtoReader, end: number): MessageUpdate {
  let header: { numRequiredSignatures: number } | undefined
  const accountKeys: Uint8Array[] = []
  const instructions: InstructionUpdate[] = []
  while (reader.next(end)) {
    if (reader.field === 1) header = reader.within(readHeader)
    else if (reader.field === 2) accountKeys.push(reader.view())
    else if (reader.field === 4) instructions.push(reader.within(readInstruction))
  }
  return { header, accountKeys, instructions }
}

function readHeader(reader: ProtoReader, end: number): { numRequiredSignatures: number } {
  let numRequiredSignatures = 0
  while (reader.next(end)) if (reader.field === 1) numRequiredSignatures = reader.value
  return { numRequiredSignatures }
}

/**
 * CompiledInstruction and InnerInstruction: 1 program id index, 2 accounts, 3 data;
 * InnerInstruction: 4 stack height.
 */
function readInstruction(reader: ProtoReader, end: number): InstructionUpdate {
  let programIdIndex = 0
  let accounts: Uint8Array = NO_BYTES
  let data: Uint8Array = NO_BYTES
  let stackHeight: number | undefined
  while (reader.next(end)) {
    if (reader.field === 1) programIdIndex = reader.value
    else if (reader.field === 2) accounts = reader.view()
    else if (reader.field === 3) data = reader.view()
    else if (reader.field === 4) stackHeight = reader.value
  }
  return { programIdIndex, accounts, data, stackHeight }
}

/**
 * TransactionStatusMeta: 1 error, 2 fee, 3 and 4 balances before and after, 5 inner instructions, 6
 * logs, 7 and 8 token balances before and after, 10 no inner instructions, 11 no logs, 12 and 13
 * loaded writable and readonly addresses.
 */
function readMeta(reader: ProtoReader, end: number): MetaUpdate {
  const meta = new Meta(reader.bytes)
  while (reader.next(end)) {
    switch (reader.field) {
      case 1:
        meta.err = FAILED
        break
      case 2:
        meta.fee = reader.exact
        break
      case 3:
        readIntegers(reader, meta.preBalances)
        break
      case 4:
        readIntegers(reader, meta.postBalances)
        break
      case 5:
        meta.innerInstructions.push(reader.within(readInner))
        break
      case 6:
        if (reader.wire === 2) meta.logs.push(reader.start, reader.at)
        break
      case 7:
        meta.preTokenBalances.push(reader.within(readTokenBalance))
        break
      case 8:
        meta.postTokenBalances.push(reader.within(readTokenBalance))
        break
      case 10:
        meta.innerInstructionsNone = reader.value !== 0
        break
      case 11:
        meta.logMessagesNone = reader.value !== 0
        break
      case 12:
        meta.loadedWritableAddresses.push(reader.view())
        break
      case 13:
        meta.loadedReadonlyAddresses.push(reader.view())
        break
    }
  }
  return meta
}

class Meta implements MetaUpdate {
  err: unknown
  fee: Integer = 0
  innerInstructionsNone = false
  logMessagesNone = false
  readonly preBalances: Integer[] = []
  readonly postBalances: Integer[] = []
  readonly innerInstructions: InnerInstructionsUpdate[] = []
  readonly preTokenBalances: TokenBalanceUpdate[] = []
  readonly postTokenBalances: TokenBalanceUpdate[] = []
  readonly loadedWritableAddresses: Uint8Array[] = []
  readonly loadedReadonlyAddresses: Uint8Array[] = []
  /** Start and end offset of each log line. */
  readonly logs: number[] = []
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get logMessages(): string[] {
    const { buffer, byteOffset } = this.#bytes
    const lines: string[] = []
    for (let at = 0; at < this.logs.length; at += 2) {
      const start = this.logs[at] ?? 0
      const length = (this.logs[at + 1] ?? 0) - start
      lines.push(Buffer.from(buffer, byteOffset + start, length).toString('utf8'))
    }
    return lines
  }
}

/** Repeated uint64, packed or not. */
function readIntegers(reader: ProtoReader, into: Integer[]): void {
  if (reader.wire === 0) {
    into.push(reader.exact)
    return
  }
  reader.within((_, end) => {
    while (reader.at < end && !reader.broken) {
      reader.varint(end)
      into.push(reader.exact)
    }
  })
}

/** InnerInstructions: 1 index, 2 instructions. */
function readInner(reader: ProtoReader, end: number): InnerInstructionsUpdate {
  let index = 0
  const instructions: InstructionUpdate[] = []
  while (reader.next(end)) {
    if (reader.field === 1) index = reader.value
    else if (reader.field === 2) instructions.push(reader.within(readInstruction))
  }
  return { index, instructions }
}

/** TokenBalance: 1 account index, 2 mint, 3 amount {2 decimals, 3 amount}, 4 owner. */
function readTokenBalance(reader: ProtoReader, end: number): TokenBalanceUpdate {
  let accountIndex = 0
  let mint = ''
  let owner = ''
  let uiTokenAmount: { amount: string; decimals: number } | undefined
  while (reader.next(end)) {
    if (reader.field === 1) accountIndex = reader.value
    else if (reader.field === 2) mint = reader.text()
    else if (reader.field === 3) uiTokenAmount = reader.within(readAmount)
    else if (reader.field === 4) owner = reader.text()
  }
  return { accountIndex, mint, owner, uiTokenAmount }
}

function readAmount(reader: ProtoReader, end: number): { amount: string; decimals: number } {
  let amount = ''
  let decimals = 0
  while (reader.next(end)) {
    if (reader.field === 2) decimals = reader.value
    else if (reader.field === 3) amount = reader.text()
  }
  return { amount, decimals }
}

const NO_BYTES = new Uint8Array()
/** Marks that there was an error. Which one is not needed. */
const FAILED = {}
