import { ServiceError } from '../../domain/service-error.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'

/** Ends what waits for a server when the service stops. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/**
 * Asks until there is an answer: a server that fails is waited for, without end. Rejects with
 * `Stopped` as soon as `stop` is aborted.
 */
export async function persist<T>(
  ask: () => Promise<T>,
  { logger, stop }: { readonly logger: Logger; readonly stop: AbortSignal },
): Promise<T> {
  for (;;) {
    if (stop.aborted) throw new Stopped()
    try {
      return await unlessStopped(ask(), stop)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      logger.warn({ reason: error.message }, 'a server does not answer; asking again')
      await pauseOrStop(1000, stop)
    }
  }
}

/** Waits; rejects with `Stopped` at once when `stop` is aborted. */
export async function pauseOrStop(ms: number, stop: AbortSignal): Promise<void> {
  await pause(ms, stop)
  if (stop.aborted) throw new Stopped()
}

function unlessStopped<T>(asked: Promise<T>, stop: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = () => reject(new Stopped())
    stop.addEventListener('abort', give, { once: true })
    asked.then(resolve, reject).finally(() => stop.removeEventListener('abort', give))
  })
}
