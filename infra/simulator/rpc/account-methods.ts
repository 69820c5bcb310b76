import bs58 from 'bs58'
import type { AccountState, OwnedTokenAccount } from '../chain.ts'
import { uiAmount } from '../market/transaction-info.ts'
import type { LedgerView } from './ledger-view.ts'
import { configOf, type RpcConfig, type RpcMethods, requireText } from './parameters.ts'
import { RpcError, RpcErrorCode } from './rpc-error.ts'

const MOST_ADDRESSES = 100

/** RPC methods about accounts. */
export function accountMethods(view: LedgerView): RpcMethods {
  const { chain, newest } = view
  const accountAt = (address: unknown, config: RpcConfig) => {
    const state = chain.account(requireText(address), newest(config))
    return state === null ? null : accountJson(state, config)
  }
  return {
    getAccountInfo([address, config]) {
      const parsed = configOf(config)
      view.requireContext(parsed)
      return { context: view.context(parsed), value: accountAt(address, parsed) }
    },
    getMultipleAccounts([addresses, config]) {
      const parsed = configOf(config)
      view.requireContext(parsed)
      const list: readonly unknown[] = Array.isArray(addresses) ? addresses : []
      if (list.length > MOST_ADDRESSES) {
        const text = `Too many inputs provided; max ${MOST_ADDRESSES}`
        throw new RpcError(RpcErrorCode.invalidParams, text)
      }
      const value = list.map((address) => accountAt(address, parsed))
      return { context: view.context(parsed), value }
    },
    getTokenAccountsByOwner([owner, filter, config]) {
      const parsed = configOf(config)
      const { mint, programId } = configOf(filter)
      const value = chain
        .tokenAccounts(requireText(owner), newest(parsed))
        .filter((found) => mint === undefined || found.mint === mint)
        .filter((found) => programId === undefined || found.program === programId)
        .map((found) => tokenAccountJson(found, parsed))
      return { context: view.context(parsed), value }
    },
  }
}

function accountJson(state: AccountState, config: RpcConfig): unknown {
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

/**
 * A token account in SPL Token's layout: 32 mint, 32 owner, u64 amount, delegate, state, ... (165
 * bytes).
 */
function tokenAccountJson(found: OwnedTokenAccount, config: RpcConfig): unknown {
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
