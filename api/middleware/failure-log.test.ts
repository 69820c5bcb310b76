import { mock } from 'node:test'
import test from 'ava'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { createFailureLog } from './failure-log.ts'

test('failures beyond five of a code and second are counted in one line', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const lines: unknown[] = []
  const log =
    (level: string) =>
    ({ requestId, code, suppressed }: Record<string, unknown>) =>
      lines.push([level, code, requestId ?? suppressed])
  // The cast is safe: a failure log calls only these two methods.
  const logger = { warn: log('warn'), error: log('error') } as unknown as Logger
  const failed = createFailureLog(logger)
  const fail = (level: 'warn' | 'error', code: string, count: number) => {
    for (let n = 1; n <= count; n++)
      failed(level, { requestId: String(n), resource: '/trades', code, reason: 'away' })
  }
  fail('warn', 'unavailable', 1000)
  fail('error', 'internal_error', 1)
  mock.timers.tick(1000)
  fail('warn', 'unavailable', 1)
  mock.timers.tick(1000)
  t.deepEqual(lines, [
    ...['1', '2', '3', '4', '5'].map((n) => ['warn', 'unavailable', n]),
    ['error', 'internal_error', '1'],
    ['warn', 'unavailable', 995],
    ['warn', 'unavailable', '1'],
  ])
  mock.timers.reset()
})
