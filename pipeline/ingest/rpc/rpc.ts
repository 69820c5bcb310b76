import type { Address } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { createHoldings, type HoldingsRpc } from './holdings.ts'
import { createJsonRpc, RpcErrorResponse, type RpcOptions } from './json-rpc.ts'
import {
  blockOrMissing,
  readAccounts,
  readBlock,
  readBlockHead,
  readBlockSignatures,
  readInteger,
  readSignatureInfos,
  readSlots,
  readTokenAccounts,
  readTokenAmount,
} from './rpc-responses.ts'
import type { AccountsRpc, Commitment, HistoryRpc, PaymentRpc, SolanaRpc } from './solana-rpc.ts'
import { TOKEN_PROGRAMS } from './token-programs.ts'

/**
 * A Solana RPC client. `Connection` of @solana/web3.js is not used: it ignores Retry-After, has no
 * timeout, and converts blocks into classes that the normaliser would have to take apart.
 */
export function createRpc(
  options: RpcOptions & {
    /** Commitment of the `HistoryRpc` methods that read transactions; default `confirmed`. */
    readonly history?: Commitment
  },
): SolanaRpc & HistoryRpc & AccountsRpc & PaymentRpc & HoldingsRpc {
  const { call, callOnce, close } = createJsonRpc(options)
  const { history = 'confirmed' } = options

  async function getAccountsAt(addresses: readonly Address[], minContextSlot?: number) {
    const config = { commitment: 'confirmed', encoding: 'base64', minContextSlot }
    return readAccounts(await call('getMultipleAccounts', [addresses, config]), addresses.length)
  }

  async function getTokenAccounts(
    owner: Address,
    filter: { readonly mint: Address } | { readonly programId: string },
    commitment: 'confirmed' | 'finalized',
    dataSlice: { readonly offset: number; readonly length: number },
  ) {
    const config = { commitment, encoding: 'base64', dataSlice }
    return readTokenAccounts(await call('getTokenAccountsByOwner', [owner, filter, config]))
  }

  return {
    async ping() {
      const outcome = await callOnce('getSlot', [{ commitment: 'confirmed' }], PING_TIMEOUT_MS)
      // A server that responds with Retry-After is reachable.
      if (outcome.kind !== 'failed' || outcome.retryAfterMs !== null) return
      const message = `SOLANA_RPC_URL: the server cannot be reached: ${outcome.message}`
      throw new ServiceError('unreachable', message)
    },
    async getSlot(commitment = 'confirmed') {
      return readInteger(await call('getSlot', [{ commitment }]), 'getSlot')
    },
    async getBlocks(from, to, commitment = 'confirmed') {
      return readSlots(await call('getBlocks', [from, to, { commitment }]))
    },
    getBlock(slot, commitment = 'confirmed') {
      const config = { ...BLOCK_OPTIONS, commitment }
      return blockOrMissing(async () => readBlock(await call('getBlock', [slot, config]), slot))
    },
    getBlockHead(slot) {
      const config = { ...BLOCK_OPTIONS, commitment: 'finalized', transactionDetails: 'none' }
      return blockOrMissing(async () => readBlockHead(await call('getBlock', [slot, config]), slot))
    },
    getMultipleAccounts: async (addresses) => [...(await getAccountsAt(addresses)).accounts],
    getAccountsAt,
    async getSignaturesForAddress(address, page) {
      const config = { commitment: history, ...page }
      return readSignatureInfos(await call('getSignaturesForAddress', [address, config]))
    },
    getTransaction: (signature) =>
      call('getTransaction', [signature, { ...TRANSACTION_OPTIONS, commitment: history }]),
    getBlockSignatures(slot) {
      const config = { ...BLOCK_OPTIONS, commitment: history, transactionDetails: 'signatures' }
      return blockOrMissing(async () => readBlockSignatures(await call('getBlock', [slot, config])))
    },
    async getBlockTime(slot) {
      const time = await blockOrMissing(() => call('getBlockTime', [slot]))
      return time === null || typeof time === 'string' ? null : readInteger(time, 'getBlockTime')
    },
    async getFirstAvailableBlock() {
      const slot = await call('getFirstAvailableBlock', []).catch((error: unknown) => {
        if (error instanceof RpcErrorResponse) return null
        throw error
      })
      return slot === null ? null : readInteger(slot, 'getFirstAvailableBlock')
    },
    async getTokenAccountsByOwner(owner) {
      const found = await Promise.all(
        TOKEN_PROGRAMS.map((programId) =>
          getTokenAccounts(owner, { programId }, 'confirmed', { offset: 0, length: 0 }),
        ),
      )
      return found.flatMap(({ accounts }) => accounts.map(({ address }) => address))
    },
    async getTokenAmounts(owner, mint) {
      const slice = { offset: TOKEN_AMOUNT_OFFSET, length: 8 }
      const { slot, accounts } = await getTokenAccounts(owner, { mint }, 'finalized', slice)
      const amounts = accounts.map(
        ({ address, account }) => [address, readTokenAmount(account, slice.offset)] as const,
      )
      return { slot, amounts: new Map(amounts) }
    },
    ...createHoldings(call),
    close,
  }
}

const PING_TIMEOUT_MS = 4000

const BLOCK_OPTIONS = {
  encoding: 'json',
  transactionDetails: 'full',
  maxSupportedTransactionVersion: 1,
  rewards: false,
}

const TRANSACTION_OPTIONS = {
  encoding: 'json',
  maxSupportedTransactionVersion: 1,
}

/** In a token account: 32 bytes mint, 32 bytes owner, then the amount as u64. */
const TOKEN_AMOUNT_OFFSET = 64
