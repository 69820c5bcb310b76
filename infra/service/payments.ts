import { Billing } from '../../api/billing/billing.ts'
import { type BillingTerms, billingTerms } from '../../api/billing/terms.ts'
import type { Turns } from '../../api/turns.ts'
import { createRpc } from '../../pipeline/ingest/rpc/rpc.ts'
import type { IngestMetrics } from '../../pipeline/ingest/telemetry.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { createDepositIndex, type DepositIndex } from '../../pipeline/workers/deposits/deposits.ts'
import type { ServiceConfig } from './config.ts'
import type { Money } from './money.ts'
import type { Source } from './source.ts'

/** What a process knows of payments. */
export interface Payments {
  readonly terms: BillingTerms
  readonly deposits: DepositIndex
  close(): Promise<void>
}

/**
 * Reads payments where this process can: it has payment addresses (the simulator's, when it plays one) and an RPC server. Null where not: then nobody can pay, and the log
 * says what is missing.
 */
export function openPayments(
  config: Pick<ServiceConfig, 'billing' | 'rpcUrl'>,
  parts: {
    readonly source: Pick<Source, 'rpcUrl' | 'paymentAddresses'> | null
    readonly store: Store
    readonly logger: Logger
    readonly metrics: IngestMetrics
  },
): Payments | null {
  const { source, store, logger, metrics } = parts
  const terms = billingTerms(config.billing, source?.paymentAddresses ?? null)
  const url = source?.rpcUrl ?? config.rpcUrl?.href
  if (terms === null || url === undefined) {
    const missing =
      terms === null ? 'PAYMENT_ADDRESS_PRO, PAYMENT_ADDRESS_CREDITS' : 'SOLANA_RPC_URL'
    logger.warn({ missing }, 'nobody can pay')
    return null
  }
  // A check does not wait for long: it is told that it cannot be done now.
  const rpc = createRpc({ url, metrics, attempts: 3, timeoutMs: 8000 })
  const startsAnew = source?.paymentAddresses != null // the simulator's
  const deposits = createDepositIndex({
    store,
    rpc,
    logger,
    startsAnew,
    payments: terms.payments,
  })
  return {
    terms,
    deposits,
    async close() {
      rpc.close()
      await deposits.close()
    },
  }
}

/** What redeems payments for accounts. */
export function createBilling(
  { terms, deposits }: Payments,
  { ledger, credits, accounts }: Money,
  { store, turns }: { readonly store: Store; readonly turns: Turns },
): Billing {
  const catchUp = () => deposits.catchUp()
  const ensureAccount = accounts.ensure.bind(accounts)
  return new Billing({ store, ledger, credits, terms, catchUp, ensureAccount, turns })
}
