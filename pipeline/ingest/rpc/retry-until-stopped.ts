import { ServiceError } from '../../domain/service-error.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createOutageLog } from '../../runtime/outage-log.ts'
import { pause } from '../../runtime/pause.ts'
import { isRefusal, type Refusals, RpcRefusedError } from './refusals.ts'

/** Ends a wait when the service stops. Not a failure. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError'
}

/**
 * Calls `request` until it succeeds, with a pause of one second after each `ServiceError`. Any
 * other error rejects. Rejects with `StoppedError` as soon as `stop` is aborted, and with
 * `RpcRefusedError` once the server has refused for as long as `refusals` allow. An outage is
 * waited for without a limit, because nothing may be lost.
 */
export async function retryUntilStopped<T>(
  request: () => Promise<T>,
  {
    logger,
    stop,
    refusals,
  }: {
    readonly logger: Logger
    readonly stop: AbortSignal
    readonly refusals: Pick<Refusals, 'isOver'>
  },
): Promise<T> {
  const outage = createOutageLog(logger, 'a request failed; retrying', 'a request worked again')
  for (;;) {
    if (stop.aborted) throw new StoppedError()
    try {
      const answer = await unlessStopped(request(), stop)
      outage.worked()
      return answer
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      if (isRefusal(error) && refusals.isOver()) throw new RpcRefusedError(error.message)
      outage.failed({ reason: error.message })
      await pauseUnlessStopped(RETRY_PAUSE_MS, stop)
    }
  }
}

const RETRY_PAUSE_MS = 1000

/** Resolves after `ms`. Rejects with `StoppedError` as soon as `stop` is aborted. */
export async function pauseUnlessStopped(ms: number, stop: AbortSignal): Promise<void> {
  await pause(ms, stop)
  if (stop.aborted) throw new StoppedError()
}

function unlessStopped<T>(response: Promise<T>, stop: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new StoppedError())
    stop.addEventListener('abort', onAbort, { once: true })
    response.then(resolve, reject).finally(() => stop.removeEventListener('abort', onAbort))
  })
}
