import test from 'ava'
import { ServiceError } from '../domain/service-error.ts'
import { createRegistry } from '../runtime/telemetry.ts'
import type { Store } from './store.ts'
import { createWatchedStore } from './watched-store.ts'

/** A watched store whose writes are answered with an error, and its metric. */
function watched() {
  const server = { refusal: null as Error | null, ms: 0 }
  const write = async () => {
    if (server.refusal) throw server.refusal
  }
  const store: Store = {
    kind: 'clickhouse',
    query: async () => [],
    insert: write,
    command: write,
    ping: async () => {},
    close: async () => {},
  }
  const registry = createRegistry()
  const failing = async () => {
    const metrics = await registry.metrics()
    return Number(/^store_writes_failing_seconds (.*)$/m.exec(metrics)?.[1])
  }
  return { store: createWatchedStore(store, registry, () => server.ms), server, failing }
}

const full = new ServiceError('unavailable', 'the store cannot serve now (code 243)')

test('writes fail from the first refusal of a table to its next success', async (t) => {
  const { store, server, failing } = watched()
  const seconds = [await failing()]
  const at = async (ms: number, refusal: Error | null, write: () => Promise<void>) => {
    Object.assign(server, { ms, refusal })
    await write().catch((error) => t.is(error, refusal))
    seconds.push(await failing())
  }
  await at(1000, full, () => store.insert('swaps', []))
  await at(5000, full, () => store.insert('swaps', []))
  await at(6000, null, () => store.insert('transfers', [])) // another table
  await at(9000, full, () => store.command('ALTER TABLE swaps DELETE WHERE slot = 1'))
  await at(12_000, null, () => store.insert('swaps', []))
  await at(13_000, null, () => store.command('ALTER TABLE swaps DELETE WHERE slot = 1'))
  t.deepEqual(seconds, [0, 0, 4, 5, 8, 3, 0])
})

test('a statement that is wrong is no failure of the server', async (t) => {
  const { store, server, failing } = watched()
  server.refusal = new ServiceError('internal', 'the store refused a statement (code 62)')
  await t.throwsAsync(store.insert('swaps', []), { is: server.refusal })
  server.ms = 5000
  t.is(await failing(), 0)
})

test('a write that is not repeated is forgotten after a minute', async (t) => {
  const { store, server, failing } = watched()
  server.refusal = full
  await t.throwsAsync(store.insert('api_keys', []), { is: full })
  server.ms = 60_000
  t.is(await failing(), 60)
  server.ms += 1
  t.is(await failing(), 0)
})
