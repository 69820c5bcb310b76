/**
 * One transfer of value, in order of execution. Native SOL and WSOL are one coin, mint number
 * `SOL`.
 *
 * `from` and `to` are the tracked wallets that owned source and destination at that moment; 0 for
 * anyone else. The system account and the WSOL accounts of a wallet form one SOL pool.
 */
export interface Move {
  /** Index of the instruction. */
  readonly at: number
  /**
   * `token`, `mint`, `burn`: done by a token program.
   *
   * `sol`: a System transfer.
   *
   * `unwrap`: SOL that a WSOL account wrapped, paid out when it was closed or unwrapped.
   *
   * `credit`: lamports that a venue credited to an account without a transfer instruction.
   *
   * `rent`, `tip`: not flows (rule B3). `rent` is paid onto an account or returned from one.
   */
  readonly kind: 'token' | 'mint' | 'burn' | 'sol' | 'unwrap' | 'credit' | 'rent' | 'tip'
  readonly mint: number
  /** Account indexes; -1 for the missing side of a mint or burn. */
  readonly source: number
  readonly destination: number
  readonly from: number
  readonly to: number
  readonly sent: bigint
  /** `sent` less the mint's transfer fee. Final once the whole transaction has been read. */
  received: bigint
  /**
   * True for a System transfer to an account that this transaction creates, other than a WSOL
   * account (rule B13).
   */
  readonly ontoCreated: boolean
}
