import test from 'ava'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { reloadAll, reloadFile } from './reload.ts'

test('a bad file is logged with its reason, and the files after it are still read', async (t) => {
  const lines: string[] = []
  const logger = createLogger('error', { write: (line) => void lines.push(line) })
  const bad = reloadFile(logger, 'wallets not read again', async () => {
    throw new ServiceError('bad_config', 'line 3 is no address')
  })
  let reads = 0
  const reload = reloadAll([
    bad,
    async () => {
      reads += 1
    },
  ])
  await reload()
  t.is(reads, 1)
  const logged = lines.map((line) => JSON.parse(line) as object)
  t.is(logged.length, 1)
  t.like(logged[0], { msg: 'wallets not read again', reason: 'line 3 is no address' })
})

test('a reload during another runs after it', async (t) => {
  const events: string[] = []
  const reload = reloadAll([
    async () => {
      events.push('begin')
      await new Promise((settle) => setImmediate(settle))
      events.push('end')
    },
  ])
  await Promise.all([reload(), reload()])
  t.deepEqual(events, ['begin', 'end', 'begin', 'end'])
})
