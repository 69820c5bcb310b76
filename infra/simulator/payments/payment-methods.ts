import { PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import type { RpcMethods } from '../rpc/parameters.ts'
import { RpcError, RpcErrorCode } from '../rpc/rpc-error.ts'
import type { SimulatedPayments } from './paid-chain.ts'
import { TransactionRefused } from './sent-transaction.ts'

/**
 * RPC methods for payments: `sendTransaction`, `requestAirdrop` of SOL as test clusters have it,
 * and the simulator's own `requestUsdtAirdrop [owner, raw amount]`.
 */
export function paymentMethods(payments: SimulatedPayments): RpcMethods {
  return {
    sendTransaction([text, config]) {
      const { encoding = 'base58', skipPreflight = false } = record(config)
      const wire =
        encoding === 'base64'
          ? Buffer.from(String(text), 'base64')
          : bs58.decodeUnsafe(String(text))
      if (wire === undefined)
        throw new RpcError(RpcErrorCode.invalidParams, 'invalid base58 encoding')
      return told(payments.send(wire, { keepFailed: skipPreflight === true }))
    },
    requestAirdrop([to, lamports]) {
      return told(payments.airdrop(key(to), amount(lamports)))
    },
    requestUsdtAirdrop([owner, raw]) {
      return told(payments.airdropUsdt(key(owner), amount(raw)))
    },
  }
}

async function told(sent: Promise<string>): Promise<string> {
  try {
    return await sent
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error
    const { message, reason: err, logs } = error
    if (err === null) throw new RpcError(RpcErrorCode.invalidParams, message)
    throw new RpcError(RpcErrorCode.preflightFailure, message, { err, logs })
  }
}

function key(value: unknown): PublicKey {
  const bytes = bs58.decodeUnsafe(String(value))
  if (bytes?.length !== 32) throw new RpcError(RpcErrorCode.invalidParams, 'Invalid param: Invalid')
  return new PublicKey(bytes)
}

function amount(value: unknown): bigint {
  const isAmount =
    typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= 1e15
  if (!isAmount) throw new RpcError(RpcErrorCode.invalidParams, 'Invalid params: not an amount')
  return BigInt(value)
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  // Any key may be read from an object.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
