import type { Address } from '../../pipeline/domain/address.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { SolPrice } from '../../pipeline/domain/slot.ts'

/** The part of a running simulator that the service uses. */
export interface SimulatedMarket {
  /** URL of the simulator's Yellowstone gRPC server. */
  readonly endpoint: string
  readonly rpcUrl: string
  /** The tracked wallets, `W1` first. */
  readonly wallets: readonly Address[]
  readonly solPricePool: Address
  /** Payment addresses of the simulated chain. */
  readonly paymentAddresses: { readonly pro: Address; readonly credits: Address }
  /** SOL/USD prices of the market's history, in order of time; empty if it has none. */
  readonly pastSolPrices: readonly SolPrice[]
  close(): Promise<void>
}

/** Options of the simulator that the service's configuration sets. */
export interface SimulatedMarketOptions {
  readonly seed: number
  /** Hours of history before the start. */
  readonly historyHours?: number
  /** Files of recorded blocks to play instead of the market. */
  readonly recorded?: { readonly files: readonly string[] }
}

/** Starts a simulated market; `startSimulator` of `infra/simulator` is one. */
export type StartSimulatedMarket = (options: SimulatedMarketOptions) => Promise<SimulatedMarket>

/**
 * Loads the simulator and starts it. Rejects with `bad_config` where the simulator is not
 * installed, as in the container image; retrying does not help.
 */
export async function startSimulatedMarket(
  options: SimulatedMarketOptions,
): Promise<SimulatedMarket> {
  const { startSimulator } = await loadSimulator()
  return startSimulator(options)
}

async function loadSimulator(): Promise<{ readonly startSimulator: StartSimulatedMarket }> {
  // A computed URL, which the compiler does not follow: the production build has no simulator.
  const file = new URL('../simulator/simulator.js', import.meta.url).href
  try {
    return await import(file) // `infra/whole-service/production-build.test.ts` checks the type
  } catch (cause) {
    if (!isMissing(cause, file)) throw cause
    throw new ServiceError(
      'bad_config',
      'YELLOWSTONE_ENDPOINT: required, as this build has no simulated market; set it with ' +
        'SOLANA_RPC_URL and WALLETS_FILE, or build with `npm run build`',
      { cause },
    )
  }
}

/** Whether Node did not find the file at `url`, rather than a file that it imports. */
function isMissing(error: unknown, url: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === 'ERR_MODULE_NOT_FOUND' &&
    'url' in error &&
    error.url === url
  )
}
