import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import type { BalanceRecord } from '../../domain/event.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import { createIngestMetrics } from '../../ingest/telemetry.ts'
import type { EventLog } from '../../log/log.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import type { Store } from '../../store/store.ts'
import { type BackfillJob, type BackfillJobs, newJob } from '../../store/tables/backfills.ts'
import type { BackfillPage } from './page-fetcher.ts'
import { PageWriter } from './page-writer.ts'

const balance = (slot: number, txIndex = 0): BalanceRecord => ({
  kind: 'balance',
  slot,
  txIndex,
  wallet: 1,
  blockTime: slot,
  lamports: 1n,
  lamportsBefore: 1n,
})

const page = (records: number, slots: readonly number[], isLast = false): BackfillPage => ({
  records: slots.map((slot) => balance(slot)),
  transactions: slots.length,
  job: jobWith(records),
  isLast,
})

function jobWith(records: number): BackfillJob {
  return { ...newJob(1, 'operator', { fromSlot: null, toSlot: null }, 0), records }
}

/** A writer, with its actions in order. The test controls when its appends become durable. */
function aWriter(options: { readonly stop?: AbortSignal; readonly append?: () => Promise<void> }) {
  const done: string[] = []
  const durable: (() => void)[] = []
  const writer = new PageWriter(
    {
      store: { query: async () => [] } as unknown as Store, // no price is stored
      log: {
        appendLate: async (records: readonly WalletRecord[]) => {
          await options.append?.()
          done.push(`append ${records.map(({ slot }) => slot)}`)
        },
      } as unknown as EventLog, // pages are appended late, and nothing else
      jobs: {
        save: async (jobs) => void done.push(`save ${jobs.map(({ records }) => records)}`),
      } as BackfillJobs, // a page only saves its job
      metrics: createIngestMetrics(createRegistry()),
      priceMaxAgeSeconds: 60,
      untilDurable: () => new Promise((resolve) => durable.push(resolve)),
    },
    options.stop ?? new AbortController().signal,
    () => {},
  )
  return { writer, done, durable }
}

const turns = async () => {
  for (let n = 0; n < 10; n++) await nextTurn()
}

test('the job behind a page is saved once the page is durable, and not behind the last page', async (t) => {
  const { writer, done, durable } = aWriter({})
  await writer.write(page(2, [20, 19]))
  await turns()
  t.deepEqual(done, ['append 19,20'])
  durable[0]?.()
  await turns()
  t.deepEqual(done, ['append 19,20', 'save 2'])
  await writer.write(page(3, [18], true))
  await turns()
  durable[1]?.()
  await writer.done()
  t.deepEqual(done, ['append 19,20', 'save 2', 'append 18', 'save '])
})

test('after a stop no job is saved, and the next page rejects', async (t) => {
  const stop = new AbortController()
  const { writer, done, durable } = aWriter({ stop: stop.signal })
  await writer.write(page(1, [20]))
  await turns()
  stop.abort()
  durable[0]?.()
  await writer.write(page(2, [19]))
  await t.throwsAsync(writer.done(), { name: 'StoppedError' })
  t.deepEqual(done, ['append 20', 'append 19'])
})

test('idle waits for a running append, also after a failure', async (t) => {
  let fail: (error: Error) => void = () => {}
  const append = () => new Promise<void>((_, reject) => (fail = reject))
  const { writer, done } = aWriter({ append })
  await writer.write(page(1, [20]))
  await turns()
  const idle = writer.idle()
  fail(new Error('the log is broken'))
  await idle
  await t.throwsAsync(writer.write(page(2, [19])), { message: 'the log is broken' })
  t.deepEqual(done, [])
})
