import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../domain/service-error.ts'
import type { EventLog } from '../../log/log.ts'
import type { Store } from '../../store/store.ts'
import { findMarked, readRevisions } from './book-store.ts'

/** Wallets asked for in one append, so that no append grows with the number of wallets. */
const WALLETS_PER_APPEND = 1000

/**
 * Asks the fold worker, wherever it runs, to fold these wallets anew from their stored events. Rows of changed events are stored before this is
 * called: a fold that begins afterwards sees them. Resolves when the requests are on the log, with the revision that each wallet is to reach.
 */
export async function requestRefolds(
  parts: { readonly store: Store; readonly log: EventLog },
  wallets: readonly number[],
): Promise<Map<number, number>> {
  const targets = new Map<number, number>()
  for (let at = 0; at < wallets.length; at += WALLETS_PER_APPEND) {
    const some = wallets.slice(at, at + WALLETS_PER_APPEND)
    const known = await readRevisions(parts.store, some)
    const refolds = some.map((wallet) => ({
      wallet,
      revision: (known.get(wallet)?.revision ?? 0) + 1,
    }))
    await parts.log.appendRefolds(refolds)
    for (const { wallet, revision } of refolds) targets.set(wallet, revision)
  }
  return targets
}

/** How far the fold worker is with what it was asked for: wallets that it has taken up, and those whose books are whole again. */
export async function readRefolds(
  store: Store,
  targets: ReadonlyMap<number, number>,
): Promise<{ readonly begun: number; readonly done: number }> {
  const wallets = [...targets.keys()]
  let begun = 0
  let done = 0
  for (let at = 0; at < wallets.length; at += WALLETS_PER_APPEND) {
    const known = await readRevisions(store, wallets.slice(at, at + WALLETS_PER_APPEND))
    for (const [wallet, { revision, isWhole }] of known) {
      if (revision < (targets.get(wallet) ?? 0)) continue
      begun += 1
      if (isWhole) done += 1
    }
  }
  return { begun, done }
}

/** What is on the log is stored within this long, however many wallets are folded again, if anybody does it. */
const STORED_MS = 10 * 60_000
const POLL_MS = 100

/**
 * Waits until all that is on the log is stored, and what is late among it is in the books of these wallets: those whose fold is put off for more to come
 * (`WalletBooks`) are folded now. Rejects with `unavailable` when no fold worker does it, with `closed` after `stop`; either way it may be called again.
 */
export async function untilInBooks(
  parts: { readonly store: Store; readonly log: EventLog },
  wallets: readonly number[],
  stop: AbortSignal,
): Promise<void> {
  const over = new AbortController()
  const give = () => over.abort()
  const timer = setTimeout(give, STORED_MS)
  stop.addEventListener('abort', give)
  if (stop.aborted) give()
  try {
    await parts.log.settled('fold', over.signal)
    const marked: number[] = []
    for (let at = 0; at < wallets.length; at += WALLETS_PER_APPEND)
      marked.push(...(await findMarked(parts.store, wallets.slice(at, at + WALLETS_PER_APPEND))))
    const targets = await requestRefolds(parts, marked)
    while ((await readRefolds(parts.store, targets)).done < targets.size) {
      if (over.signal.aborted) throw new ServiceError('closed', 'stopped while waiting for books')
      await delay(POLL_MS)
    }
  } catch (error) {
    if (stop.aborted || !over.signal.aborted) throw error
    throw new ServiceError(
      'unavailable',
      'fetched and on the log, but not stored yet; is a process with role workers running?',
      { retriable: true },
    )
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', give)
  }
}
