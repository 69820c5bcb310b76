import test from 'ava'
import type { Logger } from './logger.ts'
import { createOutageLog } from './outage-log.ts'

test('an outage is logged once when it begins and once when it ends', (t) => {
  const lines: unknown[] = []
  // The cast is safe: an outage log calls only these two methods.
  const logger = {
    warn: (fields: object, text: string) => lines.push(['warn', fields, text]),
    info: (fields: object, text: string) => lines.push(['info', fields, text]),
  } as unknown as Logger
  const outage = createOutageLog(logger, 'lost', 'back')
  outage.worked()
  for (const attempt of [1, 2, 3]) outage.failed({ attempt })
  outage.worked({ partition: 7 })
  outage.worked()
  outage.failed({ attempt: 4 })
  t.deepEqual(lines, [
    ['warn', { attempt: 1 }, 'lost'],
    ['info', { partition: 7 }, 'back'],
    ['warn', { attempt: 4 }, 'lost'],
  ])
})
