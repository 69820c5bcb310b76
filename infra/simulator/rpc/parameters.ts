import bs58 from 'bs58'
import { RpcError, RpcErrorCode } from './rpc-error.ts'

/** Methods by name, given the request's parameters. */
export type RpcMethods = Readonly<
  Record<string, (params: readonly unknown[]) => unknown | Promise<unknown>>
>

/** A method's configuration object. */
export type RpcConfig = Readonly<Record<string, unknown>>

/** The configuration of a parameter; empty where there is none. */
export function configOf(value: unknown): RpcConfig {
  return typeof value === 'object' && value !== null ? (value as RpcConfig) : {}
}

/** A number; throws `invalidParams` for anything else. */
export function requireNumber(value: unknown): number {
  if (typeof value !== 'number')
    throw new RpcError(RpcErrorCode.invalidParams, 'Invalid params: not a number')
  return value
}

/** A string; throws `invalidParams` for anything else. */
export function requireText(value: unknown): string {
  if (typeof value !== 'string')
    throw new RpcError(RpcErrorCode.invalidParams, 'Invalid params: not a string')
  return value
}

/** The 32 bytes of a base58 address; throws `invalidParams` for anything else. */
export function requireAddress(value: unknown): Uint8Array {
  const bytes = bs58.decodeUnsafe(requireText(value))
  if (bytes?.length !== 32) throw new RpcError(RpcErrorCode.invalidParams, 'Invalid param: Invalid')
  return bytes
}

/** The 64 bytes of a base58 signature; throws `invalidParams` for anything else. */
export function requireSignature(value: unknown): Uint8Array {
  const bytes = bs58.decodeUnsafe(requireText(value))
  if (bytes?.length !== 64) throw new RpcError(RpcErrorCode.invalidParams, 'Invalid param: Invalid')
  return bytes
}
