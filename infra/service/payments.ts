import { Billing } from '../../api/billing/billing.ts'
import { type BillingTerms, billingTerms } from '../../api/billing/terms.ts'
import { createRpc } from '../../pipeline/ingest/rpc/rpc.ts'
import { DepositIndex } from '../../pipeline/workers/deposits/deposits.ts'
import { createDepositMetrics } from '../../pipeline/workers/telemetry.ts'
import type { ServiceContext } from './context.ts'
import type { ServicePart } from './open-parts.ts'
import type { Source } from './source.ts'
import type { Stores } from './stores.ts'

/** The payments that this process can see. */
export interface PaymentWatch extends ServicePart {
  readonly terms: BillingTerms
  readonly deposits: DepositIndex
}

/**
 * Starts to follow payments. That takes payment addresses (the simulator has its own) and an RPC
 * server. Without them customers cannot pay: the result is null and the log names what is missing.
 */
export function openPayments(
  context: Pick<ServiceContext, 'config' | 'logger' | 'registry'>,
  { store }: Pick<Stores, 'store'>,
  source: Pick<Source, 'rpcUrl' | 'paymentAddresses'> | null,
): PaymentWatch | null {
  const { config, logger, registry } = context
  const terms = billingTerms(config.billing, source?.paymentAddresses ?? null)
  const url = source?.rpcUrl ?? config.rpcUrl?.href
  if (terms === null || url === undefined) {
    const missing =
      terms === null ? 'PAYMENT_ADDRESS_PRO, PAYMENT_ADDRESS_CREDITS' : 'SOLANA_RPC_URL'
    logger.warn({ missing }, 'nobody can pay')
    return null
  }
  // A customer waits for a payment check, so it fails early: it reports that it cannot be done now.
  const metrics = createDepositMetrics(registry)
  const rpc = createRpc({ url, metrics, attempts: 3, timeoutMs: 8000 })
  const startsAnew = source?.paymentAddresses != null // the simulator's chain begins at each start
  const deposits = new DepositIndex({
    store,
    rpc,
    logger,
    startsAnew,
    payments: terms.payments,
  })
  deposits.start()
  return {
    terms,
    deposits,
    async close() {
      rpc.close()
      await deposits.close()
    },
  }
}

/** Redeems payments for accounts. */
export function createBilling(
  { terms, deposits }: Pick<PaymentWatch, 'terms' | 'deposits'>,
  { store, ledger, credits, accounts, locks }: Stores,
): Billing {
  return new Billing({
    store,
    ledger,
    credits,
    terms,
    catchUp: () => deposits.catchUp(),
    ensureAccount: accounts.ensure.bind(accounts),
    locks,
  })
}
