/** An error that RPC returns, with its code. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown
  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Error codes of agave's RPC. Source: agave, `rpc-client-api/src/custom_error.rs`. */
export const RpcErrorCode = {
  invalidParams: -32_602,
  blockCleanedUp: -32_001,
  preflightFailure: -32_002,
  blockNotAvailable: -32_004,
  slotSkipped: -32_007,
  unsupportedVersion: -32_015,
  minContextSlotNotReached: -32_016,
} as const
