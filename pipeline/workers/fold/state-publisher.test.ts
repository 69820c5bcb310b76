import test from 'ava'
import { createMemoryStateLog } from '../../log/memory-state-log.ts'
import type { StateMessage } from '../../log/state-log.ts'
import { migrate } from '../../store/migrate.ts'
import { openTestStore } from '../../testing/test-store.ts'
import { StatePublisher } from './state-publisher.ts'

const ROWS = 45_000
const PAGE = 20_000

test('what a former owner stored and did not append is appended in pages, before the mark (rule K26)', async (t) => {
  const { store, remove } = await openTestStore()
  t.teardown(remove)
  await migrate(store)
  await store.command(
    `INSERT INTO positions (wallet, mint, version) SELECT 1 + number % 2, toString(number), 1 FROM numbers(${ROWS})`,
  )
  const log = createMemoryStateLog(2)
  const appended: StateMessage[][] = []
  const publisher = new StatePublisher(store, {
    ...log,
    async append(messages) {
      appended.push([...messages.values()])
    },
  })
  publisher.assigned([0, 1], 0, Date.now())
  const mark = { slot: 5, blockTime: 9 }
  await publisher.append(new Map(), new Map([[0, mark]]))

  const changesOf = (messages: readonly StateMessage[]) =>
    messages.flatMap(({ changes }) => changes)
  t.deepEqual(
    appended.map((messages) => changesOf(messages).length),
    [PAGE, PAGE, ROWS - 2 * PAGE, 0],
  )
  t.deepEqual(appended.pop(), [{ changes: [], mark, fence: 0 }])
  const mints = changesOf(appended.flat()).map(({ row }) => row.mint)
  t.is(new Set(mints).size, ROWS)
})
