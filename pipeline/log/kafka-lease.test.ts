import test from 'ava'
import { ServiceError } from '../domain/service-error.ts'
import { GroupLease } from './kafka-lease.ts'

const sender = { memberId: 'a', groupGenerationId: 7 }
const never = new AbortController().signal
const HOUR = 3_600_000
const ago = (ms: number) => performance.now() - ms
const times = { sessionMs: 2 * HOUR, rebalanceMs: 10 * HOUR }
const fenced = { instanceOf: ServiceError, code: 'fenced' }

test('half a session after a heartbeat was sent, the right to write waits for the next one (rule K15)', async (t) => {
  const lease = new GroupLease([0], ago(0), times)
  await lease.confirm(never)
  const stale = new GroupLease([0], ago(1.1 * HOUR), times)
  const order: string[] = []
  const waiting = stale.confirm(never).then(() => order.push('confirmed'))
  await Promise.resolve()
  order.push('heartbeat')
  stale.confirmed(sender, ago(0))
  await waiting
  t.deepEqual(order, ['heartbeat', 'confirmed'])
  t.is(await stale.generation(), 7)
})

test('a heartbeat that was answered late proves nothing about the time since it was sent', async (t) => {
  const lease = new GroupLease([0], ago(1.2 * HOUR), times)
  lease.confirmed(sender, ago(1.1 * HOUR))
  const waiting = lease.confirm(never)
  lease.end()
  await t.throwsAsync(waiting, fenced)
})

test('while the group rebalances a member may write, but not until it is left out (rule K15)', async (t) => {
  const lease = new GroupLease([0], ago(3 * HOUR), times)
  lease.rebalances(ago(0))
  await t.notThrowsAsync(lease.confirm(never))
  const late = new GroupLease([0], ago(9.1 * HOUR), times)
  late.rebalances(ago(0))
  await t.throwsAsync(late.confirm(never), fenced)
})

test('who waits for the generation gives up when the group rebalances before a heartbeat told it: only a member that joins again learns it', async (t) => {
  const lease = new GroupLease([0], ago(0), times)
  const generation = lease.generation()
  lease.rebalances(ago(0))
  await t.throwsAsync(generation, fenced)
  const known = new GroupLease([0], ago(0), times)
  known.confirmed(sender, ago(0))
  known.rebalances(ago(0))
  t.is(await known.generation(), 7)
})

test('who waits gives up once the group may have left it out, also if no heartbeat is answered any more, as after the loss of the coordinator', async (t) => {
  const soon = { sessionMs: 20, rebalanceMs: 60 }
  await t.throwsAsync(new GroupLease([0], ago(30), soon).confirm(never), fenced)
  await t.throwsAsync(new GroupLease([0], ago(0), soon).generation(), fenced)
})

test('nothing waits after the consumer has lost its partitions, or the worker stops', async (t) => {
  const lease = new GroupLease([0], ago(0), times)
  const generation = lease.generation()
  lease.end()
  await t.throwsAsync(generation, fenced)
  await t.throwsAsync(lease.confirm(never), fenced)
  const stop = new AbortController()
  const waiting = new GroupLease([0], ago(1.1 * HOUR), times).confirm(stop.signal)
  stop.abort()
  await t.throwsAsync(waiting, { instanceOf: ServiceError, code: 'closed' })
})
