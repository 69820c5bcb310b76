import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import bs58 from 'bs58'
import { encodeBase58 } from '../../../pipeline/domain/base58.ts'
import type { Block } from '../block.ts'
import type { AccountState, Chain, OwnedTokenAccount } from '../chain.ts'
import { keyId } from '../market/key.ts'
import { uiAmount } from '../market/transaction-info.ts'
import { decodeTransactionError } from './transaction-error.ts'
import { jsonFromInfo, wireBytes } from './transaction-json.ts'

/** An error that RPC answers with its code. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown
  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Methods by name, given the request's parameters. */
export type RpcMethods = Readonly<
  Record<string, (params: readonly unknown[]) => unknown | Promise<unknown>>
>

/** The newest slots that RPC may speak of, and the oldest that it has. */
export interface RpcWindow {
  processed(): number
  confirmed(): number
  finalized(): number
  first(): number
}

type Config = Readonly<Record<string, unknown>>

const BLOCK_NOT_AVAILABLE = -32_004
const BLOCK_CLEANED_UP = -32_001
const SLOT_SKIPPED = -32_007
const UNSUPPORTED_VERSION = -32_015
const INVALID_PARAMS = -32_602
const MIN_CONTEXT_SLOT_NOT_REACHED = -32_016
const MOST_SIGNATURES = 1_000
/** How long one request may keep others from their turn. */
const LONGEST_TURN_MS = 8

/** The methods over a chain (encodings `json`, `base64` and `base58`; not `jsonParsed`, but for token accounts); parameters, results and errors as agave's RPC has them. `tellsIndex`: `getTransaction` tells the place in the block, as nodes of 2026 do. */
export function createRpcMethods(
  chain: Chain,
  window: RpcWindow,
  { tellsIndex = false }: { readonly tellsIndex?: boolean } = {},
): RpcMethods {
  const newest = (config: Config): number => {
    const { commitment } = config
    if (commitment === 'processed') return window.processed()
    return commitment === 'confirmed' ? window.confirmed() : window.finalized()
  }
  const lastProduced = (slot: number): number => {
    const known = slot >= chain.firstSlot
    return known && chain.kind(slot) === 'produced' ? slot : chain.parent(slot)
  }
  const context = (config: Config) => ({ apiVersion: '2.3.0', slot: lastProduced(newest(config)) })
  const blockAt = (slot: number, limit: number): Block => {
    if (slot > limit)
      throw new RpcError(BLOCK_NOT_AVAILABLE, `Block not available for slot ${slot}`)
    if (slot < window.first()) {
      const first = window.first()
      throw new RpcError(
        BLOCK_CLEANED_UP,
        `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`,
      )
    }
    if (chain.kind(slot) !== 'produced') {
      throw new RpcError(
        SLOT_SKIPPED,
        `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
      )
    }
    return chain.block(slot)
  }
  const blocks = (start: number, end: number): number[] => {
    const found: number[] = []
    let slot = chain.nextProduced(Math.max(start, window.first()), end)
    while (slot !== null) {
      found.push(slot)
      slot = chain.nextProduced(slot + 1, end)
    }
    return found
  }
  const statusOf = (slot: number): string =>
    slot <= window.finalized()
      ? 'finalized'
      : slot <= window.confirmed()
        ? 'confirmed'
        : 'processed'
  const requireContext = (config: Config) => {
    const { minContextSlot } = config
    const slot = lastProduced(newest(config))
    if (typeof minContextSlot === 'number' && slot < minContextSlot) {
      throw new RpcError(
        MIN_CONTEXT_SLOT_NOT_REACHED,
        'Minimum context slot has not been reached',
        { contextSlot: slot },
      )
    }
  }
  const account = (address: unknown, config: Config) => {
    const state = chain.account(requireText(address), newest(config))
    return state === null ? null : accountJson(state, config)
  }

  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'feature-set': 3_640_012_085, 'solana-core': '2.3.0' }),
    getSlot: ([config]) => lastProduced(newest(configOf(config))),
    getBlockHeight: ([config]) => chain.block(lastProduced(newest(configOf(config)))).height,
    getFirstAvailableBlock: () => chain.nextProduced(window.first(), window.processed()),
    getLatestBlockhash([config]) {
      const parsed = configOf(config)
      const block = chain.block(lastProduced(newest(parsed)))
      const value = { blockhash: block.blockhash, lastValidBlockHeight: block.height + 150 }
      return { context: context(parsed), value }
    },
    getBlockTime([slot]) {
      return blockAt(requireNumber(slot), window.processed()).time
    },
    getBlocks([start, end, config]) {
      const parsed = configOf(typeof end === 'object' ? end : config)
      const limit = newest({ commitment: 'finalized', ...parsed })
      const last = typeof end === 'number' ? Math.min(end, limit) : limit
      const first = requireNumber(start)
      if (last - first > 500_000) {
        throw new RpcError(INVALID_PARAMS, 'Slot range too large; max 500000')
      }
      return blocks(first, last)
    },
    getBlocksWithLimit([start, limit, config]) {
      const last = newest(configOf(config))
      return blocks(requireNumber(start), last).slice(0, requireNumber(limit))
    },
    getBlock([slot, config]) {
      const parsed = configOf(config)
      const block = blockAt(requireNumber(slot), newest(parsed))
      return blockJson(block, parsed, chain)
    },
    getTransaction([signature, config]) {
      const parsed = typeof config === 'string' ? { encoding: config } : configOf(config)
      const place = chain.find(decodeSignature(signature))
      if (place === null || place.slot > newest(parsed) || place.slot < window.first()) return null
      if (chain.kind(place.slot) !== 'produced') return null
      const info = chain.transaction(place.slot, place.index)
      if (info === undefined) return null
      return {
        slot: place.slot,
        blockTime: chain.block(place.slot).time,
        ...(tellsIndex && { transactionIndex: place.index }),
        ...transactionJson(info, parsed),
      }
    },
    async getSignaturesForAddress([address, config]) {
      const parsed = configOf(config)
      const id = keyId(decodeAddress(address))
      const limit = parsed.limit == null ? MOST_SIGNATURES : requireNumber(parsed.limit)
      if (!(limit >= 1 && limit <= MOST_SIGNATURES)) {
        throw new RpcError(INVALID_PARAMS, `Invalid limit; max ${MOST_SIGNATURES}`)
      }
      const newestSlot = newest({ commitment: 'finalized', ...parsed })
      requireContext(parsed)
      const placeOf = (signature: unknown) => {
        if (signature == null) return null
        const found = chain.find(decodeSignature(signature))
        return found !== null && found.slot >= window.first() && found.slot <= window.processed()
          ? found
          : 'unknown'
      }
      const before = placeOf(parsed.before)
      const until = placeOf(parsed.until)
      // A node that does not have the transaction lists nothing before it, and everything down to its oldest block.
      if (before === 'unknown') return []
      const last = until === null || until === 'unknown' ? null : until
      const result: unknown[] = []
      const from = Math.min(newestSlot, before?.slot ?? Number.MAX_SAFE_INTEGER)
      const oldest = Math.max(window.first(), last?.slot ?? 0)
      let turnSince = performance.now()
      for (const found of chain.mentionsDown(id, from, oldest)) {
        if (performance.now() - turnSince > LONGEST_TURN_MS) {
          await new Promise(setImmediate)
          turnSince = performance.now()
        }
        if (found === null) continue
        const { slot, index } = found
        if (before?.slot === slot && index >= before.index) continue
        if (last?.slot === slot && index <= last.index) break
        const info = found.failed ? chain.transaction(slot, index) : undefined
        result.push({
          signature: encodeBase58(chain.signature(slot, index)),
          slot,
          err: info === undefined ? null : errorOf(info),
          memo: null,
          blockTime: chain.block(slot).time,
          confirmationStatus: statusOf(slot),
        })
        if (result.length === limit) break
      }
      return result
    },
    getSignatureStatuses([signatures]) {
      const value = (Array.isArray(signatures) ? signatures : []).map((signature) => {
        const place = chain.find(decodeSignature(signature))
        if (place === null || place.slot > window.processed() || place.slot < window.first()) {
          return null
        }
        const info = chain.transaction(place.slot, place.index)
        if (info === undefined) return null
        const err = errorOf(info)
        const finalized = place.slot <= window.finalized()
        return {
          slot: place.slot,
          confirmations: finalized ? null : window.processed() - place.slot,
          err,
          status: err === null ? { Ok: null } : { Err: err },
          confirmationStatus: statusOf(place.slot),
        }
      })
      return { context: context({ commitment: 'processed' }), value }
    },
    getAccountInfo([address, config]) {
      const parsed = configOf(config)
      requireContext(parsed)
      return { context: context(parsed), value: account(address, parsed) }
    },
    getMultipleAccounts([addresses, config]) {
      const parsed = configOf(config)
      requireContext(parsed)
      const list = Array.isArray(addresses) ? addresses : []
      if (list.length > 100) {
        throw new RpcError(INVALID_PARAMS, 'Too many inputs provided; max 100')
      }
      return { context: context(parsed), value: list.map((address) => account(address, parsed)) }
    },
    getTokenAccountsByOwner([owner, filter, config]) {
      const parsed = configOf(config)
      const { mint, programId } = configOf(filter)
      const value = chain
        .tokenAccounts(requireText(owner), newest(parsed))
        .filter((found) => mint === undefined || found.mint === mint)
        .filter((found) => programId === undefined || found.program === programId)
        .map((found) => tokenAccountJson(found, parsed))
      return { context: context(parsed), value }
    },
  }
}

function configOf(value: unknown): Config {
  return typeof value === 'object' && value !== null ? (value as Config) : {}
}

function requireNumber(value: unknown): number {
  if (typeof value !== 'number') throw new RpcError(INVALID_PARAMS, 'Invalid params: not a number')
  return value
}

function requireText(value: unknown): string {
  if (typeof value !== 'string') throw new RpcError(INVALID_PARAMS, 'Invalid params: not a string')
  return value
}

function decodeAddress(value: unknown): Uint8Array {
  const bytes = bs58.decodeUnsafe(requireText(value))
  if (bytes?.length !== 32) throw new RpcError(INVALID_PARAMS, 'Invalid param: Invalid')
  return bytes
}

function decodeSignature(value: unknown): Uint8Array {
  const bytes = bs58.decodeUnsafe(requireText(value))
  if (bytes?.length !== 64) throw new RpcError(INVALID_PARAMS, 'Invalid param: Invalid')
  return bytes
}

function errorOf(info: SubscribeUpdateTransactionInfo): unknown {
  const err = info.meta?.err
  return err === undefined ? null : decodeTransactionError(err.err)
}

function blockJson(block: Block, config: Config, chain: Chain): unknown {
  const details = config.transactionDetails ?? 'full'
  const head = {
    blockHeight: block.height,
    blockTime: block.time,
    blockhash: block.blockhash,
    parentSlot: block.parent,
    previousBlockhash: block.parentBlockhash,
    ...(config.rewards === false ? {} : { rewards: [] }),
  }
  if (details === 'none') return head
  if (details === 'signatures') {
    return { ...head, signatures: chain.signatures(block.slot).map(encodeBase58) }
  }
  return {
    ...head,
    transactions: block.transactions.map((info) => transactionJson(info, config)),
  }
}

function transactionJson(info: SubscribeUpdateTransactionInfo, config: Config): object {
  const json = jsonFromInfo(info)
  const accepted = config.maxSupportedTransactionVersion
  if (json.version !== 'legacy' && accepted === undefined) {
    throw new RpcError(
      UNSUPPORTED_VERSION,
      'Transaction version (0) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
    )
  }
  const encoding = config.encoding ?? 'json'
  const version = accepted === undefined ? {} : { version: json.version }
  switch (encoding) {
    case 'json':
      return { transaction: json.transaction, meta: json.meta, ...version }
    case 'base64':
      return {
        transaction: [wireBytes(info).toString('base64'), 'base64'],
        meta: json.meta,
        ...version,
      }
    case 'base58':
      return { transaction: [bs58.encode(wireBytes(info)), 'base58'], meta: json.meta, ...version }
    default:
      throw new RpcError(INVALID_PARAMS, `Invalid params: unknown variant \`${String(encoding)}\``)
  }
}

function accountJson(state: AccountState, config: Config): unknown {
  const slice = configOf(config.dataSlice)
  const offset = Number(slice.offset ?? 0)
  const data =
    slice.length === undefined
      ? state.data
      : state.data.subarray(offset, offset + Number(slice.length))
  const encoded =
    config.encoding === 'base58'
      ? [bs58.encode(data), 'base58']
      : [data.toString('base64'), 'base64']
  return {
    data: encoded,
    executable: false,
    lamports: Number(state.lamports),
    owner: state.owner,
    rentEpoch: 18_446_744_073_709_552_000,
    space: state.data.length,
  }
}

/** A token account with its data as SPL Token lays it out: 32 mint, 32 owner, u64 amount, delegate, state, ... (165 bytes). */
function tokenAccountJson(found: OwnedTokenAccount, config: Config): unknown {
  if (config.encoding === 'jsonParsed') {
    const text = uiAmount(found.amount, found.decimals)
    const info = {
      isNative: found.mint === 'So11111111111111111111111111111111111111112',
      mint: found.mint,
      owner: found.owner,
      state: 'initialized',
      tokenAmount: {
        amount: String(found.amount),
        decimals: found.decimals,
        uiAmount: Number(text),
        uiAmountString: text,
      },
    }
    const program = found.program.startsWith('Tokenz') ? 'spl-token-2022' : 'spl-token'
    return {
      pubkey: found.address,
      account: {
        data: { parsed: { info, type: 'account' }, program, space: 165 },
        executable: false,
        lamports: Number(found.lamports),
        owner: found.program,
        rentEpoch: 18_446_744_073_709_552_000,
        space: 165,
      },
    }
  }
  const data = Buffer.alloc(165)
  data.set(bs58.decode(found.mint), 0)
  data.set(bs58.decode(found.owner), 32)
  data.writeBigUInt64LE(found.amount, 64)
  data.writeUInt8(1, 108)
  const state = { lamports: found.lamports, owner: found.program, data }
  return { pubkey: found.address, account: accountJson(state, config) }
}
