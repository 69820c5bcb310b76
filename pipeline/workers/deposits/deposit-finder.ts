import type { PaymentAddresses, Purpose } from '../../domain/payment.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { Transaction } from '../../domain/transaction.ts'
import type { HistoryRpc, SignatureInfo } from '../../ingest/rpc/solana-rpc.ts'
import { normalizeRpc } from '../../ingest/wire/normalize-rpc.ts'
import type { Logger } from '../../runtime/logger.ts'
import { dateTime } from '../../store/date-time.ts'
import type { Store } from '../../store/store.ts'
import { type DepositRow, depositRows } from './deposit-rows.ts'
import { createOncePerKey, type OncePerKey } from './once-per-key.ts'

/** Dependencies of the finder. */
export interface DepositFinderDeps {
  readonly store: Store
  readonly rpc: Pick<HistoryRpc, 'getTransaction'>
  readonly payments: PaymentAddresses
  readonly logger: Logger
  /** Milliseconds of the wall clock. */
  readonly now?: () => number
}

/** Transactions whose deposits are stored together. */
const TRANSACTIONS_PER_INSERT = 50
/** Maximum number of transactions that a run remembers. A page of a history has at most 1000. */
const MOST_REMEMBERED = 10_000

/**
 * Stores the deposits of finalized transactions. A deposit that the stream stored with the same
 * slot is only marked finalized; any other transaction is fetched.
 */
export class DepositFinder {
  readonly #deps: DepositFinderDeps
  readonly #onTransaction: (transaction: Transaction) => void

  /** `onTransaction` is called with each transaction that was fetched. */
  constructor(deps: DepositFinderDeps, onTransaction: (transaction: Transaction) => void) {
    this.#deps = deps
    this.#onTransaction = onTransaction
  }

  /**
   * Returns the memory of one run, so that a transaction that several accounts name is indexed
   * once.
   */
  createRun(): OncePerKey {
    return createOncePerKey(MOST_REMEMBERED, TRANSACTIONS_PER_INSERT)
  }

  /**
   * Stores the deposits of finalized transactions that name an account of this purpose. Rejects
   * with a ServiceError when RPC or the store does not answer.
   */
  async index(
    infos: readonly SignatureInfo[],
    purpose: Purpose,
    indexed: OncePerKey,
  ): Promise<void> {
    const bySignature = new Map<string, SignatureInfo>()
    for (const info of infos) if (!info.failed) bySignature.set(info.signature, info)
    await indexed.run([...bySignature.keys()], (batch) =>
      this.#indexBatch(
        batch.flatMap((signature) => bySignature.get(signature) ?? []),
        purpose,
      ),
    )
  }

  /** Stores rows of `deposits`. The same row may be stored again. */
  async insert(rows: readonly DepositRow[]): Promise<void> {
    const seen_at = dateTime((this.#deps.now ?? Date.now)())
    await this.#deps.store.insert(
      'deposits',
      rows.map((row) => ({ ...row, seen_at })),
    )
  }

  async #indexBatch(infos: readonly SignatureInfo[], purpose: Purpose): Promise<void> {
    const stored = await this.#readStored(infos)
    const rows = await Promise.all(
      infos.map((info) => {
        const known = stored.get(info.signature) ?? []
        if (known.some(({ finalized }) => finalized === 1)) return []
        const isSameSlot = known.length > 0 && known.every(({ slot }) => Number(slot) === info.slot)
        if (isSameSlot) return known.map((row): DepositRow => ({ ...row, finalized: 1 }))
        return this.#fetch(info, purpose)
      }),
    )
    await this.insert(rows.flat())
  }

  async #readStored(infos: readonly SignatureInfo[]): Promise<Map<string, DepositRow[]>> {
    const rows = await this.#deps.store.query<DepositRow>(
      `SELECT wallet, purpose, signature, slot, tx_index, block_time, amount, finalized FROM deposits FINAL
       WHERE signature IN {signatures:Array(String)}`,
      { signatures: infos.map(({ signature }) => signature) },
    )
    const bySignature = new Map<string, DepositRow[]>()
    for (const row of rows)
      bySignature.set(row.signature, [...(bySignature.get(row.signature) ?? []), row])
    return bySignature
  }

  /**
   * Returns the deposits of a transaction. One that cannot be read gives a row without a wallet.
   */
  async #fetch(info: SignatureInfo, purpose: Purpose): Promise<DepositRow[]> {
    const { signature, slot, blockTime } = info
    const json = await this.#deps.rpc.getTransaction(signature)
    if (json === null)
      throw new ServiceError('unavailable', 'SOLANA_RPC_URL: a listed transaction is not there')
    const transaction = normalizeRpc(json, { slot })
    const isRead = transaction.kind === 'transaction'
    if (isRead) this.#onTransaction(transaction)
    const rows = isRead ? depositRows(transaction, this.#deps.payments, blockTime ?? 0, 1) : null
    if (rows !== null) return rows
    const reason = isRead ? 'no_inner_instructions' : transaction.reason
    this.#deps.logger.error({ reason }, 'a transaction of a payment account cannot be read')
    const depositFields = { slot, tx_index: 0, block_time: blockTime ?? 0, finalized: 1 as const }
    return [{ wallet: '', purpose, signature, amount: 0n, ...depositFields }]
  }
}
