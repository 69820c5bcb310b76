import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { SolPrice } from '../../pipeline/domain/slot.ts'
import { mergeSolPrices, parseSolPrices } from '../../pipeline/ingest/sol-price.ts'
import { readTextFile } from '../../pipeline/runtime/read-text-file.ts'
import { createPatientStore } from '../../pipeline/store/patient-store.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { storeSolPriceFile } from '../../pipeline/store/tables/sol-prices.ts'
import type { ServiceConfig } from './config.ts'
import type { ServiceContext } from './context.ts'
import type { ServicePart } from './open-parts.ts'
import type { Source } from './source.ts'

/**
 * Past prices of SOL: those of `SOL_PRICES_FILE` and of a simulated history. Rejects with
 * `bad_config`, naming the line.
 */
export async function readPastSolPrices(
  { solPricesFile: file }: Pick<ServiceConfig, 'solPricesFile'>,
  source: Pick<Source, 'history'> | null,
): Promise<readonly SolPrice[]> {
  const listed =
    file === null ? [] : parseSolPrices(await readTextFile('SOL_PRICES_FILE', file), file)
  return mergeSolPrices(source?.history?.solPrices ?? [], listed)
}

/** A running insertion of past SOL prices into the store. */
export interface SolPriceLoad extends ServicePart {
  /** Resolves when the prices are stored, or when the load was closed. */
  readonly ended: Promise<void>
}

/**
 * Stores past SOL prices in the background, then calls `onStored`. `close` aborts the load; the
 * next start continues it.
 */
export function storePastSolPrices(
  { logger, fail }: Pick<ServiceContext, 'logger' | 'fail'>,
  store: Store,
  prices: readonly SolPrice[],
  onStored: () => void,
): SolPriceLoad {
  const stopping = new AbortController()
  const ended = storeSolPriceFile(createPatientStore(store, stopping.signal, logger), prices)
    .then((stored) => {
      logger.info({ prices: prices.length, stored }, 'past prices of SOL are stored')
      onStored()
    })
    .catch((error: unknown) => {
      if (!(error instanceof ServiceError && error.code === 'closed')) fail(error)
    })
  return {
    ended,
    async close() {
      stopping.abort()
      await ended
    },
  }
}
