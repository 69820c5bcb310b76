import type { Address } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { HoldingsRpc } from '../../ingest/rpc/holdings.ts'
import { batches } from '../../runtime/batches.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import {
  type BalanceSnapshot,
  insertFirstSnapshots,
  readSnapshotSlots,
} from '../../store/tables/balance-snapshots.ts'
import { newestWallet, readTrackedWallets } from '../../store/tables/tracked-wallets.ts'

/** Running snapshots. */
export interface Snapshots {
  /** Stops, and resolves when nothing runs. */
  stop(): Promise<void>
}

/** Dependencies of snapshots. */
export interface SnapshotDeps {
  readonly store: Store
  readonly rpc: HoldingsRpc & { close(): void }
  /** The newest slot that is on the log; null before the first. */
  readonly newest: () => { readonly slot: number } | null
  readonly logger: Logger
  /** Called with an error that only a bug can cause; the process should end. */
  readonly onBug: (error: unknown) => void
  readonly everyMs?: number
}

const EVERY_MS = 5000
/** Wallets whose snapshots share an insert. */
const WALLETS_AT_ONCE = 50

/**
 * Takes a snapshot of what each tracked wallet holds that has none, once slots reach the log: at
 * the first start, and when wallets join (rule K8). Three RPC calls a wallet.
 * A wallet whose subscription is not in force yet has an open backfill, which the check waits for.
 */
export function startSnapshots(deps: SnapshotDeps): Snapshots {
  const { rpc, logger, everyMs = EVERY_MS } = deps
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, logger)

  /** Number of tracked wallets when all of them had a snapshot. */
  let complete = 0

  async function pass(): Promise<void> {
    const newest = deps.newest()
    if (newest === null || (await newestWallet(store)) === complete) return
    const [addresses, taken] = await Promise.all([
      readTrackedWallets(store),
      readSnapshotSlots(store, null),
    ])
    const missing = addresses
      .map((address, at) => ({ wallet: at + 1, address }))
      .filter(({ wallet }) => !taken.has(wallet))
    for (const some of batches(missing, WALLETS_AT_ONCE)) {
      if (stopping.signal.aborted) return
      await takeSnapshots(store, rpc, some, newest.slot)
    }
    complete = addresses.length
    if (missing.length > 0) logger.info({ wallets: missing.length }, 'balances read')
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pass().catch((error: unknown) => {
        if (!(error instanceof ServiceError && error.code === 'unavailable')) throw error
        logger.warn({ reason: error.message }, 'balances not read; tried again later')
      })
      await pause(everyMs, stopping.signal)
    }
  }

  const running = run().catch((error: unknown) => {
    if (!stopping.signal.aborted) deps.onBug(error)
  })
  return {
    async stop() {
      stopping.abort()
      rpc.close()
      await running
    },
  }
}

/** Stores the snapshots that it gets, then rejects if it did not get all. */
async function takeSnapshots(
  store: Store,
  rpc: HoldingsRpc,
  wallets: readonly { readonly wallet: number; readonly address: Address }[],
  minContextSlot: number,
): Promise<void> {
  const options = { commitment: 'finalized', minContextSlot } as const
  const tokens: BalanceSnapshot[] = []
  const sol: BalanceSnapshot[] = []
  const taken = await Promise.allSettled(
    wallets.map(async ({ wallet, address }) => {
      const { slot, lamports, tokens: held } = await rpc.getHoldings(address, options)
      for (const token of held) tokens.push({ wallet, slot, ...token })
      sol.push({ wallet, account: '', mint: '', slot, amount: lamports })
    }),
  )
  await insertFirstSnapshots(store, tokens, sol)
  for (const outcome of taken) if (outcome.status === 'rejected') throw outcome.reason
}
