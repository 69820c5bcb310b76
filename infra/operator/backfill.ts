import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { BackfillSummary } from '../../pipeline/workers/backfill/backfills.ts'
import { requireFoldWorker } from '../../pipeline/workers/fold/refold.ts'
import { optionCommand, trackedWalletsOption } from './command.ts'

/** A bound of a history: a slot, or a time in unix seconds. */
type Bound = { readonly slot: number } | { readonly time: number }

/** `--from`, `--to`: a slot, or an ISO time: a date (UTC), or a time with `Z` or an offset. */
const boundOption = z
  .string()
  .transform((text, context): Bound => {
    if (/^[0-9]{1,15}$/.test(text)) return { slot: Number(text) }
    const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
    const ms = isTime ? Date.parse(text) : Number.NaN
    if (ms >= 0) return { time: Math.ceil(ms / 1000) }
    const expected = 'expected a slot or a time, for example 405000000 or 2026-11-20T08:00:00Z'
    context.addIssue({ code: 'custom', message: expected })
    return z.NEVER
  })
  .optional()

/**
 * `backfill --wallet <W3|all> [--from ..] [--to ..]`: fetches the wallets' history over RPC and
 * waits until it is stored. Bounds are inclusive; by default it goes back to the first block that
 * the RPC server has. The same command continues an interrupted one at its page. Rejects with
 * `unavailable` when a server does not answer or no fold worker runs. Exits with 1 when RPC listed
 * transactions that it did not return.
 */
export const backfill = optionCommand({
  name: 'backfill',
  summary: 'Fetches the history of tracked wallets over RPC.',
  usage: '--wallet <W3|all> [--from <slot|ISO time>] [--to <slot|ISO time>]',
  options: { wallet: trackedWalletsOption, from: boundOption, to: boundOption },
  isRecorded: true,
  async run({ wallet, from, to }, parts, report) {
    if (from !== undefined && 'time' in from && from.time * 1000 > Date.now())
      throw new ServiceError('invalid_argument', '--from: a time that has not come yet')
    const wallets = await wallet(parts.store)
    await requireFoldWorker(await parts.log())
    const backfills = await parts.backfills()
    const first = async (bound: Bound, after: number) =>
      'slot' in bound ? bound.slot + after : backfills.slotAtTime(bound.time + after)
    const range = {
      fromSlot: from === undefined ? null : await first(from, 0),
      // The last slot of a second is the one before the first slot of the next second.
      toSlot: to === undefined ? null : (await first(to, 1)) - 1,
    }
    if (range.fromSlot !== null && range.toSlot !== null && range.fromSlot > range.toSlot)
      throw new ServiceError('invalid_argument', '--from: later than --to')
    const total = wallets.length
    report({ what: 'wallets', done: 0, total })
    const items = await backfills.run(wallets, range, parts.stop, (progress) => {
      const detail = { what: 'transactions', done: progress.transactions }
      report({ what: 'wallets', done: progress.wallets, total, detail })
    })
    const missing = sum(items, 'missing')
    return {
      document: {
        wallets: total,
        transactions: sum(items, 'transactions'),
        records: sum(items, 'records'),
        missing,
        items: items.map((item) => ({
          alias: aliasOf(item.wallet),
          transactions: item.transactions,
          records: item.records,
          missing: item.missing,
          complete_since: item.completeSince,
        })),
      },
      failed: missing > 0,
    }
  },
})

function sum(items: readonly BackfillSummary[], field: 'transactions' | 'records' | 'missing') {
  return items.reduce((all, item) => all + item[field], 0)
}
