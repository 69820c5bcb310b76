import type { Simulator } from '../../infra/simulator/simulator.ts'
import { LIVE_START } from '../domain/slot.ts'
import { createWallets } from '../domain/wallets.ts'
import type { EventLog } from '../log/log.ts'
import { createLogger } from '../runtime/logger.ts'
import { createRegistry } from '../runtime/telemetry.ts'
import { type Ingest, type IngestDeps, startIngest } from '../workers/ingest/ingest.ts'

/** The oldest price that a swap gets, in seconds. */
export const PRICE_MAX_AGE_SECONDS = 3600

/** Starts ingest on a simulator, at live slots and silently, unless `deps` say otherwise. */
export function startTestIngest(
  simulator: Simulator,
  log: EventLog,
  deps: Partial<IngestDeps> = {},
): Promise<Ingest> {
  return startIngest({
    config: {
      endpoint: simulator.endpoint,
      xToken: null,
      rpcUrl: simulator.rpcUrl,
      pricePool: simulator.solPricePool,
      priceMaxAgeSeconds: PRICE_MAX_AGE_SECONDS,
    },
    wallets: createWallets(simulator.wallets),
    log,
    resumePoint: async () => LIVE_START,
    logger: createLogger('silent'),
    registry: createRegistry(),
    ...deps,
  })
}
