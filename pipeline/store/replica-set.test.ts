import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { ServiceError } from '../domain/service-error.ts'
import type { Engine } from './engine.ts'
import { ReplicaSet } from './replica-set.ts'
import type { WorkerPosition } from './store.ts'
import { POSITIONS } from './tables/progress.ts'

/** A server of a test: what it has stored, and how it fails. */
class FakeServer {
  /** Code of ClickHouse that its calls reject with; 0: it does not answer; null: none. */
  fault: number | null = null
  /** Code that its writes reject with; null: none. */
  writeFault: number | null = null
  isReadOnly = false
  positions: (WorkerPosition & { partition: number })[] = []
  /** Resolves when it has what the other servers have. */
  synced: Promise<void> = Promise.resolve()
  /** Resolves when it confirms inserts. */
  inserted: Promise<void> = Promise.resolve()
  readonly host: string
  readonly calls: string[] = []

  constructor(host: string) {
    this.host = host
  }

  /** Lets it lack what the others have until the returned function is called. */
  holdSync(): () => void {
    let replicate = () => {}
    this.synced = new Promise((resolve) => {
      replicate = resolve
    })
    return () => replicate()
  }

  get engine(): Engine {
    return {
      kind: 'clickhouse',
      read: async (sql) => {
        this.#failFor(this.fault)
        if (sql === POSITIONS) return this.positions
        if (sql.includes('system.replicas')) return [{ n: this.isReadOnly ? '3' : '0' }]
        if (sql.includes('system.tables')) return [{ name: 'swaps' }]
        if (sql === 'SELECT 0 AS n') return [{ n: 0 }]
        this.calls.push(sql)
        return [{ host: this.host }]
      },
      run: async (sql) => {
        this.#failFor(this.fault)
        this.calls.push(sql)
        await this.synced
      },
      insert: async (sql) => {
        this.calls.push(sql)
        this.#failFor(this.fault ?? this.writeFault)
        await this.inserted
      },
      ping: async () => this.#failFor(this.fault),
      close: async () => {},
    }
  }

  #failFor(code: number | null): void {
    if (code === 0) throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    if (code !== null) throw new Error(`Code: ${code}. DB::Exception: no`)
  }
}

function threeServers(cluster: string | null = 'main') {
  const servers = [new FakeServer('a'), new FakeServer('b'), new FakeServer('c')] as const
  const replicas = servers.map(({ host, engine }) => ({ host, engine, checks: engine }))
  const set = new ReplicaSet(replicas, cluster)
  const reader = async () => {
    const [row] = (await set.read('SELECT host')) as { host: string }[]
    return row?.host
  }
  return { servers, set, reader }
}

const at = (slot: number, partition = 0) => ({ worker: 'fold', partition, slot })

test('a process stays on the first server of the list, and does not go back to it after it had to leave', async (t) => {
  const { servers, set, reader } = threeServers()
  const [a, b] = servers
  t.is(await reader(), 'a')
  a.fault = 0
  t.is(await reader(), 'b')
  a.fault = null
  t.is(await reader(), 'b')
  b.fault = 0
  t.is(await reader(), 'c')
  await set.close()
})

test('a write is not repeated on another server; the next one goes there', async (t) => {
  for (const code of [242, 999, 225, 243, 33, 0]) {
    const { servers, set } = threeServers()
    const [a, b, c] = servers
    await set.ping()
    if (code === 0) a.fault = 0
    else a.writeFault = code
    await t.throwsAsync(set.insert('INSERT 1', ''))
    await set.insert('INSERT 1', '')
    const inserts = (server: FakeServer) => server.calls.filter((sql) => sql === 'INSERT 1').length
    t.deepEqual([a, b, c].map(inserts), [1, 1, 0])
    await set.close()
  }
})

test('an overloaded server stays in use', async (t) => {
  for (const code of [241, 159, 252, 285, 286, 319]) {
    const { servers, set, reader } = threeServers()
    await set.ping()
    servers[0].fault = code
    await t.throwsAsync(reader(), { message: `Code: ${code}. DB::Exception: no` })
    servers[0].fault = null
    t.is(await reader(), 'a')
    await set.close()
  }
})

test('a server is used only with every position that the process wrote or read, whatever its withdrawals', async (t) => {
  const { servers, set, reader } = threeServers(null)
  const [a, b, c] = servers
  a.positions = [at(9), at(9, 1)]
  b.positions = [at(9), at(7, 1)]
  c.positions = []
  t.is(await reader(), 'a')
  set.remember([at(8, 1)])
  a.fault = 0
  const refused = await t.throwsAsync(reader(), { instanceOf: ServiceError })
  t.like(refused, {
    code: 'unavailable',
    message:
      'no ClickHouse server can be used: a does not answer, b lacks what this process has seen, c lacks what this process has seen',
  })
  c.positions = [at(8), at(8, 1)]
  t.is(await reader(), 'c')
  await set.close()
})

test('a marker that was served counts for every partition', async (t) => {
  const { servers, set, reader } = threeServers(null)
  const [a, b, c] = servers
  a.positions = [at(9), at(9, 1)]
  b.positions = [at(9), at(7, 1)]
  c.positions = [at(8), at(8, 1)]
  await set.arriveAt([{ worker: 'fold', partition: null, slot: 8 }])
  a.fault = 0
  t.is(await reader(), 'c')
  await set.close()
})

test('a server that answers again with older data is not used', async (t) => {
  const { servers, set, reader } = threeServers(null)
  const [a, b, c] = servers
  for (const server of servers) server.positions = [at(5)]
  t.is(await reader(), 'a')
  set.remember([at(5)])
  for (const server of servers) server.fault = 0
  await t.throwsAsync(reader(), { message: /a does not answer, b does not answer/ })
  for (const server of servers) server.fault = null
  for (const server of [a, b]) server.positions = [at(4)]
  t.is(await reader(), 'c')
  c.fault = 0
  await t.throwsAsync(reader(), { message: /a lacks what this process has seen/ })
  await set.close()
})

test('a position is reached once the server has replicated everything before it; each is waited for once', async (t) => {
  const { servers, set } = threeServers()
  const [a] = servers
  await set.ping()
  const replicate = a.holdSync()
  let hasArrived = false
  const arrival = set.arriveAt([at(5)]).then(() => {
    hasArrived = true
  })
  await nextTurn()
  await nextTurn()
  t.false(hasArrived)
  replicate()
  await arrival
  await set.arriveAt([at(5)])
  await set.arriveAt([at(4)])
  t.deepEqual(a.calls, ['SYSTEM SYNC REPLICA swaps LIGHTWEIGHT'])
  await set.close()
})

test('positions that arrive while the server is asked are waited for together', async (t) => {
  const { servers, set } = threeServers()
  const [a] = servers
  await set.ping()
  const replicate = a.holdSync()
  const first = set.arriveAt([at(5)])
  await nextTurn()
  const later = [set.arriveAt([at(6)]), set.arriveAt([at(7)]), set.arriveAt([at(8)])]
  await nextTurn()
  replicate()
  await Promise.all([first, ...later])
  const sync = 'SYSTEM SYNC REPLICA swaps LIGHTWEIGHT'
  t.deepEqual(a.calls, [sync, sync])
  await set.close()
})

test('of named tables alone what was stored is waited for', async (t) => {
  const { servers, set } = threeServers()
  await set.catchUp(['positions', 'mints'])
  t.deepEqual(servers[0].calls, [
    'SYSTEM SYNC REPLICA positions LIGHTWEIGHT',
    'SYSTEM SYNC REPLICA mints LIGHTWEIGHT',
  ])
  await set.close()
})

test('before a process changes to another server, that server has replicated everything', async (t) => {
  const { servers, set, reader } = threeServers()
  const [a, b] = servers
  for (const server of servers) server.positions = [at(5)]
  await set.ping()
  t.deepEqual(b.calls, [])
  set.remember([at(5)])
  a.fault = 0
  t.is(await reader(), 'b')
  const sync = 'SYSTEM SYNC REPLICA swaps LIGHTWEIGHT'
  // Once before it is chosen, and once more for what was written meanwhile.
  t.deepEqual(b.calls, [sync, sync, 'SELECT host'])
  await set.close()
})

test('what a process wrote on one server is on the next one, also before it knows a position', async (t) => {
  const { servers, set, reader } = threeServers()
  const [a, b] = servers
  await set.insert('INSERT 1', '')
  a.fault = 0
  t.is(await reader(), 'b')
  t.deepEqual(b.calls, ['SYSTEM SYNC REPLICA swaps LIGHTWEIGHT', 'SELECT host'])
  await set.close()
})

test('a write that its server confirms after it was left ends once the server in use has it', async (t) => {
  const { servers, set, reader } = threeServers()
  const [a, b] = servers
  let confirm = () => {}
  a.inserted = new Promise((resolve) => {
    confirm = resolve
  })
  const ended: string[] = []
  const written = set.insert('INSERT 1', '').then(() => ended.push('written'))
  while (a.calls.length === 0) await nextTurn()
  a.fault = 0
  t.is(await reader(), 'b')
  const replicate = b.holdSync()
  const { length } = b.calls
  confirm()
  while (b.calls.length === length) await nextTurn()
  t.deepEqual([ended, b.calls.slice(length)], [[], ['SYSTEM SYNC REPLICA swaps LIGHTWEIGHT']])
  replicate()
  await written
  t.deepEqual(ended, ['written'])
  await set.close()
})

test('without a server that can write, one that cannot still serves reads', async (t) => {
  const { servers, set, reader } = threeServers()
  const [a, b, c] = servers
  for (const server of [a, b]) server.isReadOnly = true
  t.is(await reader(), 'c')
  c.isReadOnly = true
  c.writeFault = 242
  await t.throwsAsync(set.insert('INSERT 1', ''), { message: /^Code: 242/ })
  t.is(await reader(), 'c')
  await set.close()
})

test('a server that cannot replicate what it lacks is not used, not even for reads', async (t) => {
  const { servers, set, reader } = threeServers()
  const [a, b, c] = servers
  for (const server of servers) server.positions = [at(5)]
  await set.ping()
  set.remember([at(5)])
  b.synced = Promise.reject(new Error('Code: 999. DB::Exception: no Keeper'))
  c.synced = b.synced
  a.fault = 0
  await t.throwsAsync(reader(), {
    message:
      'no ClickHouse server can be used: a does not answer, b fails a check (code 999), c fails a check (code 999)',
  })
  await set.close()
})
