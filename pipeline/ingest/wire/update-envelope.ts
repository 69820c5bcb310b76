import { ProtoReader } from './proto-reader.ts'

/**
 * The fields of a Yellowstone update that are needed before its slot is sealed. Reading them from
 * the encoded `SubscribeUpdate` takes about a microsecond; the rest is decoded later.
 */
export type UpdateEnvelope =
  | {
      readonly kind: 'transaction'
      readonly slot: number
      readonly index: number
      /** The signature, one latin-1 character per byte. */
      readonly key: string
    }
  | {
      readonly kind: 'account'
      readonly slot: number
      /** The public key, one latin-1 character per byte. */
      readonly key: string
      /** The program that owns the account, one latin-1 character per byte. */
      readonly owner: string
      readonly writeVersion: number
      readonly data: Uint8Array
    }
  | {
      readonly kind: 'meta'
      readonly slot: number
      readonly parent: number
      /** Unix seconds; null when the node does not know it. */
      readonly blockTime: number | null
      /** Base58. */
      readonly blockhash: string
    }
  | { readonly kind: 'slot'; readonly slot: number; readonly status: SlotStatus }
  | { readonly kind: 'ping' | 'pong' | 'other' }

/** `confirmed` includes finalized. `other`: all statuses that the sealer ignores. */
export type SlotStatus = 'confirmed' | 'dead' | 'other'

/**
 * Reads the envelope; null when the bytes are not a `SubscribeUpdate`. Account data is a view of
 * `bytes`. Field numbers: `geyser.proto` of yellowstone-grpc, as of package 7.0.1.
 */
export function readEnvelope(bytes: Uint8Array): UpdateEnvelope | null {
  const reader = new ProtoReader(bytes)
  let envelope: UpdateEnvelope | null = null
  while (reader.next(bytes.length)) {
    const read = READERS[reader.field]
    if (read !== undefined) envelope = reader.within(read)
  }
  return reader.broken || !isExact(envelope) ? null : envelope
}

type Read = (reader: ProtoReader, end: number) => UpdateEnvelope | null

/** SubscribeUpdateTransaction: 1 info, 2 slot. */
function readTransaction(reader: ProtoReader, end: number): UpdateEnvelope | null {
  let slot = 0
  let info: { key: string; index: number } | null = null
  while (reader.next(end)) {
    if (reader.field === 1) info = reader.within(readInfo)
    else if (reader.field === 2) slot = reader.value
  }
  return info === null ? null : { kind: 'transaction', slot, index: info.index, key: info.key }
}

/** SubscribeUpdateTransactionInfo: 1 signature, 5 index. */
function readInfo(reader: ProtoReader, end: number): { key: string; index: number } | null {
  let index = 0
  let key = ''
  while (reader.next(end)) {
    if (reader.field === 1) key = reader.text()
    else if (reader.field === 5) index = reader.value
  }
  return key.length === 64 ? { key, index } : null
}

/** SubscribeUpdateBlockMeta: 1 slot, 2 block hash, 4 block time, 6 parent slot. */
function readMeta(reader: ProtoReader, end: number): UpdateEnvelope {
  let slot = 0
  let parent = 0
  let blockTime: number | null = null
  let blockhash = ''
  while (reader.next(end)) {
    if (reader.field === 1) slot = reader.value
    else if (reader.field === 2) blockhash = reader.text()
    else if (reader.field === 6) parent = reader.value
    else if (reader.field === 4) blockTime = reader.within(readTime)
  }
  return { kind: 'meta', slot, parent, blockTime, blockhash }
}

/** UnixTimestamp: 1 seconds. */
function readTime(reader: ProtoReader, end: number): number | null {
  let seconds = 0
  while (reader.next(end)) if (reader.field === 1) seconds = reader.value
  return seconds === 0 ? null : seconds
}

/** SubscribeUpdateSlot: 1 slot, 3 status. */
function readSlot(reader: ProtoReader, end: number): UpdateEnvelope {
  let slot = 0
  let status = 0
  while (reader.next(end)) {
    if (reader.field === 1) slot = reader.value
    else if (reader.field === 3) status = reader.value
  }
  return { kind: 'slot', slot, status: STATUSES[status] ?? 'other' }
}

/**
 * SlotStatus: 0 processed, 1 confirmed, 2 finalized, 3 first shred received, 4 completed, 5 created
 * bank, 6 dead.
 */
const STATUSES: readonly SlotStatus[] = [
  'other',
  'confirmed',
  'confirmed',
  'other',
  'other',
  'other',
  'dead',
]

/** SubscribeUpdateAccount: 1 info, 2 slot. */
function readAccount(reader: ProtoReader, end: number): UpdateEnvelope | null {
  let slot = 0
  let account: ReturnType<typeof readAccountInfo> | null = null
  while (reader.next(end)) {
    if (reader.field === 1) account = reader.within(readAccountInfo)
    else if (reader.field === 2) slot = reader.value
  }
  return account === null ? null : { kind: 'account', slot, ...account }
}

/** SubscribeUpdateAccountInfo: 1 public key, 3 owner, 6 data, 7 write version. */
function readAccountInfo(reader: ProtoReader, end: number) {
  let key = ''
  let owner = ''
  let writeVersion = 0
  let data: Uint8Array<ArrayBufferLike> = new Uint8Array()
  while (reader.next(end)) {
    if (reader.field === 1) key = reader.text()
    else if (reader.field === 3) owner = reader.text()
    else if (reader.field === 6) data = reader.view()
    else if (reader.field === 7) writeVersion = reader.value
  }
  return { key, owner, writeVersion, data }
}

/** Readers by field number of SubscribeUpdate. */
const READERS: readonly (Read | undefined)[] = [
  undefined,
  undefined,
  readAccount,
  readSlot,
  readTransaction,
  other('other'), // block
  other('ping'),
  readMeta,
  other('other'), // entry
  other('pong'),
  other('other'), // transaction status
]

function other(kind: 'ping' | 'pong' | 'other'): Read {
  return () => ({ kind })
}

/** Whether a double represents every number of the envelope exactly. */
function isExact(envelope: UpdateEnvelope | null): boolean {
  if (envelope === null || !('slot' in envelope)) return true
  if (envelope.slot > Number.MAX_SAFE_INTEGER) return false
  if (envelope.kind === 'meta') return envelope.parent <= Number.MAX_SAFE_INTEGER
  return envelope.kind !== 'transaction' || envelope.index <= Number.MAX_SAFE_INTEGER
}
