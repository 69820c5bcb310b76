import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { pause } from '../../pipeline/runtime/pause.ts'
import {
  readRefoldProgress,
  requestRefolds,
  requireFoldWorker,
} from '../../pipeline/workers/fold/refold.ts'
import { optionCommand, trackedWalletsOption } from './command.ts'
import type { OperatorParts } from './parts.ts'
import type { Report } from './progress.ts'

/** A running fold worker accepts a request within this time, even after a rebalance. */
const ANSWER_MS = 60_000
/** Longest time without progress once begun: one wallet may have many millions of events. */
const STALL_MS = 15 * 60_000
const POLL_MS = 200

/**
 * `recompute --wallet <W3|all>`: asks the fold workers to fold wallets again from their stored
 * events (rules J3, K4): lots, disposals, positions and metrics. Waits until they are stored.
 * Rejects with `unavailable` when no fold worker runs or accepts the request, and with `closed`
 * when it is stopped.
 */
export const recomputeCommand = optionCommand({
  name: 'recompute',
  summary: 'Folds tracked wallets again from their stored events.',
  usage: '--wallet <W3|all>',
  options: { wallet: trackedWalletsOption },
  isRecorded: true,
  async run({ wallet }, parts, report) {
    const wallets = await wallet(parts.store)
    await refoldWallets(parts, wallets, report)
    return { document: { wallets: wallets.length } }
  },
})

/**
 * Asks the fold workers to fold these wallets again, and waits until that is stored. Rejects with
 * `unavailable` when no fold worker runs, or none answers within `answerMs`, and with `closed` when
 * it is stopped.
 */
export async function refoldWallets(
  parts: Pick<OperatorParts, 'store' | 'log' | 'stop'>,
  wallets: readonly number[],
  report: Report,
  answerMs = ANSWER_MS,
): Promise<void> {
  const { store, stop } = parts
  const log = await parts.log()
  await requireFoldWorker(log)
  const targets = await requestRefolds({ store, log }, wallets)
  const total = wallets.length
  let last = { begun: 0, done: 0 }
  let movedAt = Date.now()
  report({ what: 'wallets', done: 0, total })
  while (last.done < total) {
    await pause(POLL_MS, stop)
    if (stop.aborted)
      throw new ServiceError(
        'closed',
        'stopped before all wallets were folded; run the command again',
        {
          retriable: true,
        },
      )
    const { begun, done } = await readRefoldProgress(store, targets)
    if (begun !== last.begun || done !== last.done) movedAt = Date.now()
    last = { begun, done }
    report({ what: 'wallets', done, total })
    if (Date.now() - movedAt > (begun > done ? STALL_MS : answerMs))
      throw new ServiceError(
        'unavailable',
        `no fold worker answers: ${done} of ${total} wallets are folded; a process with role workers runs, but does not take the request; see its log`,
      )
  }
}
