import type { PaymentAddresses, Purpose } from '../../domain/payment.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { Transaction } from '../../domain/transaction.ts'
import type { HistoryRpc, SignatureInfo } from '../../ingest/rpc/solana-rpc.ts'
import { normalizeRpc } from '../../ingest/wire/normalize-rpc.ts'
import type { Logger } from '../../runtime/logger.ts'
import { dateTime } from '../../store/date-time.ts'
import type { Store } from '../../store/store.ts'
import { type DepositRow, depositRows } from './deposit-rows.ts'
import { createOnceEach, type OnceEach } from './once-each.ts'

export interface DepositFinderDeps {
  readonly store: Store
  readonly rpc: Pick<HistoryRpc, 'getTransaction'>
  readonly payments: PaymentAddresses
  readonly logger: Logger
  readonly now?: () => number
}

/** Looks at transactions and stores what they paid. What the stream stored of the same slot is marked finalized; everything else is fetched. */
export class DepositFinder {
  readonly #deps: DepositFinderDeps
  readonly #onTransaction: (transaction: Transaction) => void

  /** `onTransaction` is told of each transaction that was fetched. */
  constructor(deps: DepositFinderDeps, onTransaction: (transaction: Transaction) => void) {
    this.#deps = deps
    this.#onTransaction = onTransaction
  }

  /** For one run: a transaction that several accounts name is looked at once. */
  looks(): OnceEach {
    return createOnceEach(MOST_LOOKS, STORED_AT_ONCE)
  }

  /** Stores the deposits of finalized transactions that name an account of this purpose. Rejects when RPC or store do not answer. */
  async look(infos: readonly SignatureInfo[], purpose: Purpose, looks: OnceEach): Promise<void> {
    const bySignature = new Map<string, SignatureInfo>()
    for (const info of infos) if (!info.failed) bySignature.set(info.signature, info)
    const index = (signatures: readonly string[]) =>
      this.#index(
        signatures.flatMap((signature) => bySignature.get(signature) ?? []),
        purpose,
      )
    await looks.all([...bySignature.keys()], index)
  }

  async #index(infos: readonly SignatureInfo[], purpose: Purpose): Promise<void> {
    const stored = await this.#stored(infos)
    const found = await Promise.all(
      infos.map((info) => {
        const known = stored.get(info.signature) ?? []
        if (known.some(({ finalized }) => finalized === 1)) return []
        const isSame = known.length > 0 && known.every(({ slot }) => Number(slot) === info.slot)
        if (isSame) return known.map((row): DepositRow => ({ ...row, finalized: 1 }))
        return this.#fetch(info, purpose)
      }),
    )
    await this.insert(found.flat())
  }

  async #stored(infos: readonly SignatureInfo[]): Promise<Map<string, DepositRow[]>> {
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

  async #fetch(info: SignatureInfo, purpose: Purpose): Promise<DepositRow[]> {
    const { signature, slot, blockTime } = info
    const json = await this.#deps.rpc.getTransaction(signature)
    if (json === null)
      throw new ServiceError('unavailable', 'SOLANA_RPC_URL: a listed transaction is not there', {
        retriable: true,
      })
    const transaction = normalizeRpc(json, { slot })
    const isRead = transaction.kind === 'transaction'
    if (isRead) this.#onTransaction(transaction)
    const rows = isRead ? depositRows(transaction, this.#deps.payments, blockTime ?? 0, 1) : null
    if (rows !== null) return rows
    const reason = isRead ? 'no_inner_instructions' : transaction.reason
    this.#deps.logger.error({ reason }, 'a transaction of a payment account cannot be read')
    const place = { slot, tx_index: 0, block_time: blockTime ?? 0, finalized: 1 as const }
    return [{ wallet: '', purpose, signature, amount: 0n, ...place }]
  }

  async insert(rows: readonly DepositRow[]): Promise<void> {
    const seen_at = dateTime((this.#deps.now ?? Date.now)())
    await this.#deps.store.insert(
      'deposits',
      rows.map((row) => ({ ...row, seen_at })),
    )
  }
}

const STORED_AT_ONCE = 50
/** Transactions of a run that are remembered. */
const MOST_LOOKS = 10_000
