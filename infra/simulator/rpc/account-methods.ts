import bs58 from 'bs58'
import type { AccountState, OwnedTokenAccount } from '../chain.ts'
import type { LedgerView } from './ledger-view.ts'
import { configOf, type RpcConfig, type RpcMethods, requireText } from './parameters.ts'
import { RpcError, RpcErrorCode } from './rpc-error.ts'

const MOST_ADDRESSES = 100

/** RPC methods about accounts. */
export function accountMethods(view: LedgerView): RpcMethods {
  const { chain } = view
  return {
    getMultipleAccounts([addresses, config]) {
      const parsed = configOf(config)
      view.requireContext(parsed)
      const list: readonly unknown[] = Array.isArray(addresses) ? addresses : []
      if (list.length > MOST_ADDRESSES) {
        const text = `Too many inputs provided; max ${MOST_ADDRESSES}`
        throw new RpcError(RpcErrorCode.invalidParams, text)
      }
      const value = list.map((address) => {
        const state = chain.account(requireText(address), view.newest(parsed))
        return state === null ? null : accountJson(state, parsed)
      })
      return { context: view.context(parsed), value }
    },
    getTokenAccountsByOwner([owner, filter, config]) {
      const parsed = configOf(config)
      const { mint, programId } = configOf(filter)
      const value = chain
        .tokenAccounts(requireText(owner), view.newest(parsed))
        .filter((found) => mint === undefined || found.mint === mint)
        .filter((found) => programId === undefined || found.program === programId)
        .map((found) => tokenAccountJson(found, parsed))
      return { context: view.context(parsed), value }
    },
  }
}

function accountJson({ data, lamports, owner }: AccountState, config: RpcConfig): unknown {
  const { offset = 0, length = data.length } = configOf(config.dataSlice)
  const sliced = data.subarray(Number(offset), Number(offset) + Number(length))
  return {
    data: [sliced.toString('base64'), 'base64'],
    executable: false,
    lamports: Number(lamports),
    owner,
    rentEpoch: 18_446_744_073_709_552_000,
    space: data.length,
  }
}

/**
 * A token account in SPL Token's layout: 32 mint, 32 owner, u64 amount, delegate, state, ... (165
 * bytes).
 */
function tokenAccountJson(found: OwnedTokenAccount, config: RpcConfig): unknown {
  const data = Buffer.alloc(165)
  data.set(bs58.decode(found.mint), 0)
  data.set(bs58.decode(found.owner), 32)
  data.writeBigUInt64LE(found.amount, 64)
  data.writeUInt8(1, 108)
  const state = { lamports: found.lamports, owner: found.program, data }
  return { pubkey: found.address, account: accountJson(state, config) }
}
