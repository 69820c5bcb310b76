import { type Address, addressFromBytes } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { JsonRpcClient } from './json-rpc.ts'
import { readAccount, readInteger, readTokenAccounts } from './rpc-responses.ts'
import { TOKEN_PROGRAMS } from './token-programs.ts'

/** What a wallet holds after all transactions of a slot. */
export interface Holdings {
  readonly slot: number
  readonly lamports: bigint
  /** Token accounts of both token programs. Amounts are raw units. */
  readonly tokens: readonly {
    readonly account: Address
    readonly mint: Address
    readonly amount: bigint
  }[]
}

/** How holdings are read. */
export interface HoldingsOptions {
  readonly commitment: 'confirmed' | 'finalized'
  /** The server must have reached this slot. */
  readonly minContextSlot?: number | undefined
}

/** The RPC methods for snapshots and reconciliation (rules J10, K8). */
export interface HoldingsRpc {
  /**
   * Returns what a wallet holds, all of it at one slot. Rejects with `unavailable` when the server
   * does not answer, or not for one slot in ten tries.
   */
  getHoldings(owner: Address, options: HoldingsOptions): Promise<Holdings>
}

const MAX_TRIES = 10
/** In a token account: 32 bytes mint, 32 bytes owner, then the amount as u64. */
const TOKEN_SLICE = { offset: 0, length: 72 }

/** Creates the methods over a JSON-RPC client. */
export function createHoldings(call: JsonRpcClient['call']): HoldingsRpc {
  async function readOnce(owner: Address, options: HoldingsOptions) {
    const config = { ...options, encoding: 'base64' }
    const [account, ...programs] = await Promise.all([
      call('getMultipleAccounts', [[owner], { ...config, dataSlice: { offset: 0, length: 0 } }]),
      ...TOKEN_PROGRAMS.map(async (programId) =>
        readTokenAccounts(
          await call('getTokenAccountsByOwner', [
            owner,
            { programId },
            { ...config, dataSlice: TOKEN_SLICE },
          ]),
        ),
      ),
    ])
    const { slot, lamports } = readLamports(account)
    const tokens = programs.flatMap(({ accounts }) => accounts.map(readToken))
    return { slot, lamports, tokens, isOneSlot: programs.every((found) => found.slot === slot) }
  }
  return {
    async getHoldings(owner, options) {
      for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
        const { isOneSlot, ...holdings } = await readOnce(owner, options)
        if (isOneSlot) return holdings
      }
      const message = 'SOLANA_RPC_URL: the server did not answer three requests at one slot'
      throw new ServiceError('unavailable', message, { retriable: true })
    },
  }
}

function readLamports(json: unknown): { readonly slot: number; readonly lamports: bigint } {
  const method = 'getMultipleAccounts'
  const { context, value } = (json ?? {}) as { context?: { slot?: unknown }; value?: unknown }
  const slot = readInteger(context?.slot, method)
  const account = Array.isArray(value) ? (value[0] as { lamports?: unknown } | null) : undefined
  if (account === null) return { slot, lamports: 0n }
  return { slot, lamports: BigInt(readInteger(account?.lamports, method)) }
}

function readToken({ address, account }: { readonly address: Address; readonly account: unknown }) {
  const data = Buffer.from(readAccount(account)?.data ?? [])
  if (data.length < TOKEN_SLICE.length) {
    const message = 'SOLANA_RPC_URL: getTokenAccountsByOwner answered without the data'
    throw new ServiceError('unavailable', message, { retriable: true })
  }
  return {
    account: address,
    mint: addressFromBytes(data.subarray(0, 32)),
    amount: data.readBigUInt64LE(64),
  }
}
