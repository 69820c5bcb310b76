import test from 'ava'
import { ServiceError } from '../../domain/service-error.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { createIngestMetrics } from '../telemetry.ts'
import { RpcErrorResponse } from './json-rpc.ts'
import { createRefusals, isRefusal } from './refusals.ts'

test('a refusal is given up after the bound, those that follow it at once, and a later one after the bound again (rule K10)', (t) => {
  const deps = {
    logger: createLogger('silent'),
    metrics: createIngestMetrics(createRegistry()),
  }
  let now = 1000
  const refusals = createRefusals(60, deps, () => now)
  const at = (time: number) => {
    now = time
    return refusals.isOver()
  }
  t.deepEqual([1000, 1030, 1059, 1060, 1061, 1120].map(at), [false, false, false, true, true, true])
  t.deepEqual([1181, 1240, 1241].map(at), [false, false, true])
})

test('an error response and a refusing HTTP status are refusals; an outage is none (rule K10)', (t) => {
  t.true(isRefusal(new RpcErrorResponse('getBlock', -32015, 'no')))
  t.true(isRefusal(new ServiceError('unavailable', '403', { context: { refused: true } })))
  t.false(isRefusal(new ServiceError('unavailable', 'HTTP status 503')))
  t.false(isRefusal(new Error('a bug')))
})
