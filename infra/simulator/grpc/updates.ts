import {
  type SlotStatus,
  SubscribeUpdate,
  type SubscribeUpdateAccount,
  type SubscribeUpdateTransactionInfo,
} from '@triton-one/yellowstone-grpc'
import { accountKeysOf, type Block } from '../block.ts'
import { keyId } from '../market/key.ts'

/**
 * An update of the stream, shared by all subscribers: filters read its fields, and the body is
 * encoded once.
 */
export type StreamUpdate = SlotUpdate | StreamTransactionUpdate | AccountUpdate | BlockMetaUpdate

/** A status of a slot. */
export interface SlotUpdate {
  readonly kind: 'slot'
  readonly slot: number
  readonly status: SlotStatus
  readonly body: Buffer
}

/** A transaction. */
export interface StreamTransactionUpdate {
  readonly kind: 'transaction'
  readonly slot: number
  readonly info: SubscribeUpdateTransactionInfo
  readonly body: Buffer
  readonly keys: KeysOfTransaction
}

/** The state of an account. */
export interface AccountUpdate {
  readonly kind: 'account'
  readonly slot: number
  readonly update: SubscribeUpdateAccount
  readonly body: Buffer
}

/** The summary of a block. */
export interface BlockMetaUpdate {
  readonly kind: 'blockMeta'
  readonly slot: number
  readonly body: Buffer
}

/** The keys of a transaction that filters compare with. */
export interface KeysOfTransaction {
  readonly named: ReadonlySet<string>
  /** Owners of token accounts in the balances before or after, base58. */
  readonly owners: ReadonlySet<string>
  /** Owners whose token balance changed, or whose account was opened or closed. */
  readonly changedOwners: ReadonlySet<string>
}

/**
 * Encodes an update without its filter names. These come first on the wire, so that they can be
 * prepended.
 */
function encode(update: Partial<SubscribeUpdate>): Buffer {
  return Buffer.from(
    SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ filters: [], ...update })).finish(),
  )
}

/** The update of a slot's status. */
export function slotUpdate(
  slot: number,
  parent: number,
  status: SlotStatus,
  deadError?: string,
): SlotUpdate {
  const update = { slot: String(slot), parent: String(parent), status, deadError }
  return { kind: 'slot', slot, status, body: encode({ slot: update }) }
}

/** The update of a transaction; it is encoded when it is first needed. */
export function transactionUpdate(
  slot: number,
  info: SubscribeUpdateTransactionInfo,
): StreamTransactionUpdate {
  let body: Buffer | undefined
  let keys: KeysOfTransaction | undefined
  return {
    kind: 'transaction',
    slot,
    info,
    get body() {
      body ??= encodeTransaction(slot, info)
      return body
    },
    get keys() {
      keys ??= keysOf(info)
      return keys
    },
  }
}

function encodeTransaction(slot: number, info: SubscribeUpdateTransactionInfo): Buffer {
  // Not through fromPartial, which copies every object: this is the inner loop of load tests.
  const update: SubscribeUpdate = {
    filters: [],
    transaction: { transaction: info, slot: String(slot) },
    createdAt: undefined,
  }
  return Buffer.from(SubscribeUpdate.encode(update).finish())
}

/** The update of an account; it is encoded when it is first needed. */
export function accountUpdate(update: SubscribeUpdateAccount): AccountUpdate {
  let body: Buffer | undefined
  return {
    kind: 'account',
    slot: Number(update.slot),
    update,
    get body() {
      body ??= encode({ account: update })
      return body
    },
  }
}

/** The block meta update of a block. */
export function blockMetaUpdate(block: Block): BlockMetaUpdate {
  return {
    kind: 'blockMeta',
    slot: block.slot,
    body: encode({
      blockMeta: {
        slot: String(block.slot),
        blockhash: block.blockhash,
        rewards: { rewards: [], numPartitions: undefined },
        blockTime: { timestamp: String(block.time) },
        blockHeight: { blockHeight: String(block.height) },
        parentSlot: String(block.parent),
        parentBlockhash: block.parentBlockhash,
        executedTransactionCount: String(block.transactions.length),
        entriesCount: String(Math.ceil(block.transactions.length / 4) + 64),
      },
    }),
  }
}

/** The keys of a transaction that filters compare with. */
export function keysOf(info: SubscribeUpdateTransactionInfo): KeysOfTransaction {
  const meta = info.meta
  const named = new Set(accountKeysOf(info).map(keyId))
  const owners = new Set<string>()
  const changedOwners = new Set<string>()
  const before = new Map((meta?.preTokenBalances ?? []).map((b) => [b.accountIndex, b]))
  const after = new Map((meta?.postTokenBalances ?? []).map((b) => [b.accountIndex, b]))
  for (const account of new Set([...before.keys(), ...after.keys()])) {
    const pre = before.get(account)
    const post = after.get(account)
    const changed = pre?.uiTokenAmount?.amount !== post?.uiTokenAmount?.amount
    for (const owner of [pre?.owner, post?.owner]) {
      if (owner === undefined || owner === '') continue
      owners.add(owner)
      if (changed) changedOwners.add(owner)
    }
  }
  return { named, owners, changedOwners }
}
