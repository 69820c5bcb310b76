import test from 'ava'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { createApiMetrics } from '../telemetry.ts'
import type { ApiMiddleware } from './context.ts'
import { errors } from './errors.ts'

test('a handshake that the feed answers itself counts as 101, not as a path that is not there', async (t) => {
  const registry = createRegistry()
  const count = errors(createLogger('silent'), createApiMetrics(registry))
  // Koa's status is 404 until something sets it.
  const accepted = { respond: false, status: 404, state: { resource: '/ws' } }
  await count(accepted as Parameters<ApiMiddleware>[0], async () => {})
  const counts = /api_request_seconds_count\{(.*)\} (\d+)/g
  t.deepEqual(
    [...(await registry.metrics()).matchAll(counts)].map(([, labels, times]) => [labels, times]),
    [['resource="/ws",status="101"', '1']],
  )
})
