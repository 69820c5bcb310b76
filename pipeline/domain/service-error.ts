/** Codes of expected failures outside the program. */
export type ServiceErrorCode =
  | 'bad_config'
  | 'bad_wallets_file'
  | 'bad_strategies_file'
  | 'bad_labels_file'
  | 'schema_changed'
  | 'newer_format'
  | 'unreachable'
  | 'unavailable'
  | 'closed'
  | 'fenced'
  | 'out_of_range'
  | 'lagged'
  | 'account_exists'
  | 'account_not_found'
  | 'wallet_not_found'
  | 'deposit_not_found'
  | 'already_redeemed'
  | 'invalid_argument'
  | 'confirmation_required'
  | 'internal'

/**
 * An expected failure. `code` says which, `retriable` whether retrying may help: by default it may
 * for `unreachable` and `unavailable`. `context` gives details and never holds a secret or an
 * address.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ServiceErrorCode
  readonly retriable: boolean
  readonly context: Readonly<Record<string, unknown>>

  constructor(
    code: ServiceErrorCode,
    message: string,
    options: { retriable?: boolean; cause?: unknown; context?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retriable = options.retriable ?? (code === 'unreachable' || code === 'unavailable')
    this.context = options.context ?? {}
  }
}
