import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import { encodeBase58 } from '../../../pipeline/domain/base58.ts'
import type { TransactionMention } from '../chain.ts'
import { keyId } from '../market/key.ts'
import type { LedgerView } from './ledger-view.ts'
import {
  configOf,
  type RpcConfig,
  type RpcMethods,
  requireAddress,
  requireNumber,
  requireSignature,
} from './parameters.ts'
import { RpcError, RpcErrorCode } from './rpc-error.ts'
import { decodeTransactionError } from './transaction-error.ts'
import { jsonFromInfo } from './transaction-json.ts'

const MOST_SIGNATURES = 1_000
/** Longest time that a request blocks the event loop. */
const LONGEST_BLOCK_MS = 8

/**
 * RPC methods about transactions. With `tellsIndex`, `getTransaction` answers `transactionIndex`,
 * as nodes of 2026 do.
 */
export function transactionMethods(view: LedgerView, tellsIndex: boolean): RpcMethods {
  const { chain, window } = view
  return {
    getTransaction([signature, config]) {
      const parsed = typeof config === 'string' ? { encoding: config } : configOf(config)
      const place = chain.find(requireSignature(signature))
      if (place === null || place.slot > view.newest(parsed) || place.slot < window.first())
        return null
      if (chain.kind(place.slot) !== 'produced') return null
      const info = chain.transaction(place.slot, place.index)
      if (info === undefined) return null
      return {
        slot: place.slot,
        blockTime: chain.block(place.slot).time,
        ...(tellsIndex && { transactionIndex: place.index }),
        ...encodeRpcTransaction(info, parsed),
      }
    },
    getSignaturesForAddress: ([address, config]) =>
      listSignatures(view, requireAddress(address), configOf(config)),
    getSignatureStatuses([signatures]) {
      const list: readonly unknown[] = Array.isArray(signatures) ? signatures : []
      return {
        context: view.context({ commitment: 'processed' }),
        value: list.map((signature) => signatureStatus(view, requireSignature(signature))),
      }
    },
  }
}

async function listSignatures(view: LedgerView, address: Uint8Array, config: RpcConfig) {
  const { chain, window } = view
  const limit = config.limit == null ? MOST_SIGNATURES : requireNumber(config.limit)
  if (!(limit >= 1 && limit <= MOST_SIGNATURES)) {
    throw new RpcError(RpcErrorCode.invalidParams, `Invalid limit; max ${MOST_SIGNATURES}`)
  }
  view.requireContext(config)
  const placeOf = (signature: unknown) =>
    signature == null ? undefined : view.find(requireSignature(signature))
  const before = placeOf(config.before)
  const until = placeOf(config.until)
  // A node that does not know `before` lists nothing; one that does not know `until` ignores it.
  if (before === null) return []
  const from = Math.min(view.newest(config), before?.slot ?? Number.MAX_SAFE_INTEGER)
  const oldest = Math.max(window.first(), until?.slot ?? 0)
  const result: unknown[] = []
  let blockedSince = performance.now()
  for (const found of chain.mentionsDown(keyId(address), from, oldest)) {
    if (performance.now() - blockedSince > LONGEST_BLOCK_MS) {
      await new Promise(setImmediate)
      blockedSince = performance.now()
    }
    if (found === null) continue
    if (before?.slot === found.slot && found.index >= before.index) continue
    if (until?.slot === found.slot && found.index <= until.index) break
    result.push(signatureJson(view, found))
    if (result.length === limit) break
  }
  return result
}

function signatureJson(view: LedgerView, { slot, index, failed }: TransactionMention) {
  const { chain } = view
  const info = failed ? chain.transaction(slot, index) : undefined
  return {
    signature: encodeBase58(chain.signature(slot, index)),
    slot,
    err: info === undefined ? null : errorOf(info),
    memo: null,
    blockTime: chain.block(slot).time,
    confirmationStatus: view.statusOf(slot),
  }
}

function signatureStatus(view: LedgerView, signature: Uint8Array) {
  const place = view.find(signature)
  const info = place === null ? undefined : view.chain.transaction(place.slot, place.index)
  if (place === null || info === undefined) return null
  const err = errorOf(info)
  const confirmationStatus = view.statusOf(place.slot)
  const isFinalized = confirmationStatus === 'finalized'
  return {
    slot: place.slot,
    confirmations: isFinalized ? null : view.window.processed() - place.slot,
    err,
    status: err === null ? { Ok: null } : { Err: err },
    confirmationStatus,
  }
}

function errorOf(info: SubscribeUpdateTransactionInfo): unknown {
  const err = info.meta?.err
  return err === undefined ? null : decodeTransactionError(err.err)
}

/**
 * A transaction with encoding `json`. Throws `invalidParams` for any other encoding, and
 * `unsupportedVersion` for a version above `maxSupportedTransactionVersion` (legacy by default).
 */
export function encodeRpcTransaction(
  info: SubscribeUpdateTransactionInfo,
  config: RpcConfig,
): object {
  const { encoding = 'json', maxSupportedTransactionVersion: accepted } = config
  if (encoding !== 'json') {
    const text = `Invalid params: unknown variant \`${String(encoding)}\``
    throw new RpcError(RpcErrorCode.invalidParams, text)
  }
  const { transaction, meta, version } = jsonFromInfo(info)
  if (version !== 'legacy' && !(typeof accepted === 'number' && accepted >= version)) {
    throw new RpcError(
      RpcErrorCode.unsupportedVersion,
      `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
    )
  }
  return { transaction, meta, ...(accepted !== undefined && { version }) }
}
