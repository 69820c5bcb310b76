import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../domain/service-error.ts'
import { SNAPSHOT_FORMATS } from '../../fold/snapshot.ts'
import type { EventLog } from '../../log/log.ts'
import { batches } from '../../runtime/batches.ts'
import type { Store } from '../../store/store.ts'
import { findMarkedWallets, readRevisions } from '../../store/tables/fold-snapshots.ts'

/** Wallets in one append. */
const WALLETS_PER_REQUEST = 1000

/**
 * Requests the fold worker, in whatever process it runs, to refold these wallets from their stored
 * events. Store the changed events before the call. Resolves when the requests are on the log, with
 * the revision that each wallet will reach. Calling it twice is harmless.
 */
export async function requestRefolds(
  parts: { readonly store: Store; readonly log: EventLog },
  wallets: readonly number[],
): Promise<Map<number, number>> {
  const targets = new Map<number, number>()
  for (const some of batches(wallets, WALLETS_PER_REQUEST)) {
    const known = await readRevisions(parts.store, some, SNAPSHOT_FORMATS)
    const refolds = some.map((wallet) => ({
      wallet,
      revision: (known.get(wallet)?.revision ?? 0) + 1,
    }))
    for (const { wallet, revision } of refolds) targets.set(wallet, revision)
  }
  await appendRefolds(parts.log, targets)
  return targets
}

async function appendRefolds(log: EventLog, targets: ReadonlyMap<number, number>): Promise<void> {
  const refolds = [...targets].map(([wallet, revision]) => ({ wallet, revision }))
  for (const some of batches(refolds, WALLETS_PER_REQUEST)) await log.appendRefolds(some)
}

/**
 * Returns how many of the requested refolds (wallet to revision) have begun, and how many are done.
 */
export async function readRefoldProgress(
  store: Store,
  targets: ReadonlyMap<number, number>,
): Promise<{ readonly begun: number; readonly done: number }> {
  const known = await readRevisions(store, [...targets.keys()], SNAPSHOT_FORMATS)
  let begun = 0
  let done = 0
  for (const [wallet, { revision, isWhole }] of known) {
    if (revision < (targets.get(wallet) ?? 0)) continue
    begun += 1
    if (isWhole) done += 1
  }
  return { begun, done }
}

/** Rejects with a retriable `unavailable` when no fold worker runs, in any process. */
export async function requireFoldWorker(log: Pick<EventLog, 'hasConsumer'>): Promise<void> {
  if (await log.hasConsumer('fold')) return
  throw new ServiceError(
    'unavailable',
    'no process with role workers runs: start one, and run the command again',
    { retriable: true },
  )
}

/** A running fold worker stores everything on the log within this time. */
const TIMEOUT_MS = 10 * 60_000
const POLL_MS = 100

/**
 * Waits until everything on the log is stored and the books of these wallets include it. Deferred
 * refolds of the wallets (`DeferredRefolds`) are requested now. Rejects with a retriable
 * `unavailable` when no fold worker does it in ten minutes, with `closed` after `stop`.
 */
export async function waitUntilFolded(
  parts: { readonly store: Store; readonly log: EventLog },
  wallets: readonly number[],
  stop: AbortSignal,
): Promise<void> {
  const over = new AbortController()
  const abort = () => over.abort()
  const timer = setTimeout(abort, TIMEOUT_MS)
  stop.addEventListener('abort', abort)
  if (stop.aborted) abort()
  try {
    await parts.log.settled('fold', over.signal)
    const targets = await findMarkedWallets(parts.store, wallets)
    await appendRefolds(parts.log, targets)
    while ((await readRefoldProgress(parts.store, targets)).done < targets.size) {
      if (over.signal.aborted) throw new ServiceError('closed', 'stopped while waiting for books')
      await delay(POLL_MS)
    }
  } catch (error) {
    if (stop.aborted || !over.signal.aborted) throw error
    throw new ServiceError(
      'unavailable',
      'fetched and on the log, but not stored yet; is a process with role workers running?',
    )
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', abort)
  }
}
