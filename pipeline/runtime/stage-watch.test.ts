import test from 'ava'
import type { SlotStage } from './slot-stage.ts'
import { createStageWatch } from './stage-watch.ts'

function aWatch(...stages: readonly SlotStage[]) {
  let seconds = 1000
  const watch = createStageWatch(new Set(stages), () => seconds * 1000)
  return {
    note: watch.note,
    pass: (more: number) => {
      seconds += more
    },
    /** Why the process is not ready; null when it is. */
    reason: () =>
      watch.check().then(
        () => null,
        (error: Error) => error.message,
      ),
  }
}

test('a stage that has not moved for 60 s is named when the stage before it has (rule J4)', async (t) => {
  const watch = aWatch('received', 'sealed', 'appended')
  watch.note('received', 10)
  watch.note('sealed', 10)
  watch.note('appended', 10)
  watch.pass(500)
  t.is(await watch.reason(), null, 'nothing comes in')
  watch.note('received', 11)
  watch.pass(59)
  watch.note('received', 12)
  t.is(await watch.reason(), null)
  watch.pass(1)
  t.is(await watch.reason(), 'no slot has come further: sealed behind received for 60 s')
  watch.note('sealed', 11)
  t.is(await watch.reason(), null, 'it is behind and moves')
  watch.pass(61)
  t.is(
    await watch.reason(),
    'no slot has come further: sealed behind received for 61 s, appended behind sealed for 61 s',
  )
  watch.note('sealed', 12)
  t.is(await watch.reason(), 'no slot has come further: appended behind sealed for 61 s')
  watch.note('appended', 12)
  t.is(await watch.reason(), null)
})

test('a stage that has never moved counts from the first move before it; stages of other processes are not missed (rule J4)', async (t) => {
  const watch = aWatch('read', 'stored')
  watch.note('read', 10)
  watch.pass(600)
  t.is(await watch.reason(), null, 'nothing has moved since the start')
  watch.note('read', 11)
  watch.pass(60)
  t.is(await watch.reason(), 'no slot has come further: stored behind read for 60 s')
  const ingest = aWatch('received', 'sealed', 'appended')
  for (const stage of ['received', 'sealed', 'appended'] as const) ingest.note(stage, 10)
  ingest.pass(600)
  t.is(await ingest.reason(), null)
})
