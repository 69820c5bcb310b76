import type { Address } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { HoldingsRpc } from '../../ingest/rpc/holdings.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import { insertSnapshot, readSnapshotSlots } from '../../store/tables/balance-snapshots.ts'
import { readTrackedWallets } from '../../store/tables/tracked-wallets.ts'

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

/**
 * Takes a snapshot of what each tracked wallet holds that has none, once slots reach the log: at
 * the first start, and when wallets join (rule K8). Three RPC calls a wallet, one wallet at a time.
 * A wallet whose subscription is not in force yet has an open backfill, which the check waits for.
 */
export function startSnapshots(deps: SnapshotDeps): Snapshots {
  const { rpc, logger, everyMs = EVERY_MS } = deps
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, logger)

  async function pass(): Promise<void> {
    const newest = deps.newest()
    if (newest === null) return
    const [addresses, taken] = await Promise.all([
      readTrackedWallets(store),
      readSnapshotSlots(store),
    ])
    if (addresses.length === taken.size) return
    for (const [at, address] of addresses.entries()) {
      if (stopping.signal.aborted) return
      if (!taken.has(at + 1)) await takeSnapshot(store, rpc, at + 1, address, newest.slot)
    }
    logger.info({ wallets: addresses.length - taken.size }, 'balances read')
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

async function takeSnapshot(
  store: Store,
  rpc: HoldingsRpc,
  wallet: number,
  address: Address,
  minContextSlot: number,
): Promise<void> {
  const options = { commitment: 'finalized', minContextSlot } as const
  const { slot, lamports, tokens } = await rpc.getHoldings(address, options)
  await insertSnapshot(
    store,
    tokens.map((token) => ({ wallet, slot, ...token })),
    { wallet, account: '', mint: '', slot, amount: lamports },
  )
}
