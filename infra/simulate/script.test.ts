import test from 'ava'
import fc from 'fast-check'
import { REPLICA_FAULTS } from '../servers/replica-faults.ts'
import { createScript, describeStep, isEnd, type ScriptOptions, type ScriptStep } from './script.ts'

const OPTIONS: ScriptOptions = {
  seed: 1,
  slots: 3000,
  parts: ['api', 'workers', 'ingest', 'webhooks'],
  servers: ['kafka', 'clickhouse', 'redis'],
  commands: [['recompute', '--wallet', 'all']],
  replaySlots: 256,
  longAbsence: true,
  addsWallet: true,
  actions: 'dense',
  isCluster: false,
}

function nameOf(step: ScriptStep): string {
  if ('part' in step) return step.part
  if ('replica' in step) return `clickhouse-${step.replica + 1}`
  if ('endpoint' in step) return `endpoint-${step.endpoint + 1}`
  return 'server' in step ? step.server : step.act
}

test('a script is a function of its seed, in order, and starts once each part that it stops', (t) => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const script = createScript({ ...OPTIONS, seed })
      t.deepEqual(createScript({ ...OPTIONS, seed }), script)
      const away = new Set<string>()
      let at = 0
      for (const step of script) {
        t.true(step.at >= at)
        at = step.at
        if (!('part' in step) && !('server' in step)) continue
        const name = nameOf(step)
        t.is(away.has(name), step.act === 'start', `${step.act} ${name} at ${step.at}`)
        if (step.act === 'start') away.delete(name)
        else away.add(name)
      }
      t.deepEqual([...away], [])
    }),
  )
})

test('rare actions leave time for breaks, because a restart compares 512 slots with RPC (K2)', (t) => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const script = createScript({ ...OPTIONS, seed, actions: 'sparse', longAbsence: false })
      const [restart, ...actions] = script.filter(({ act }) => act !== 'start').map(({ at }) => at)
      t.is(restart, 40)
      t.is(actions[0], 400)
      for (const [place, at] of actions.slice(1).entries())
        t.true(at - (actions[place] ?? 0) >= 700, `${at}`)
    }),
  )
})

test('ten seeds have every kind of action', (t) => {
  const done = new Set<string>()
  for (let seed = 1; seed <= 10; seed += 1)
    for (const step of createScript({ ...OPTIONS, seed })) done.add(`${step.act} ${nameOf(step)}`)
  const things = [...OPTIONS.parts, ...OPTIONS.servers]
  t.deepEqual(
    [...done].sort(),
    [
      ...things.flatMap((name) => [`kill ${name}`, `stop ${name}`, `start ${name}`]),
      'add wallet add wallet',
      'cut cut',
      'operator operator',
    ].sort(),
  )
})

test('the short runs of CI kill every process and server, and give every command', (t) => {
  const commands = [['recompute'], ['redecode'], ['backfill']]
  const done = (first: number, last: number, options: Partial<ScriptOptions>) => {
    const found = new Set<string>()
    for (let seed = first; seed <= last; seed += 1)
      for (const step of createScript({ ...OPTIONS, slots: 270, commands, ...options, seed }))
        if (step.act === 'operator') found.add(`${step.args[0]}`)
        else if (step.act === 'kill' || step.act === 'cut') found.add(`${step.act} ${nameOf(step)}`)
    return [...found].sort()
  }
  const always = ['backfill', 'cut cut', 'recompute', 'redecode']
  const one = { parts: ['all'], servers: [], longAbsence: false, addsWallet: false } as const
  t.deepEqual(done(5, 7, one), [...always, 'kill all'].sort())
  const names = [...OPTIONS.parts, ...OPTIONS.servers].map((name) => `kill ${name}`)
  t.deepEqual(done(11, 13, { longAbsence: false, addsWallet: false }), [...always, ...names].sort())
})

test('on a cluster, one process of a role and one node of a server at most is away, and all faults occur', (t) => {
  const second = ['api-2', 'workers-2', 'ingest-2', 'webhooks-2'] as const
  const nodes = [
    'kafka-1',
    'clickhouse-1',
    'redis-1',
    'kafka-2',
    'clickhouse-2',
    'redis-2',
  ] as const
  const parts = [...OPTIONS.parts, ...second]
  const options = { ...OPTIONS, isCluster: true, parts, servers: [...nodes], longAbsence: false }
  const done = new Set<string>()
  for (let seed = 1; seed <= 30; seed += 1) {
    const away = new Map<string, string>()
    for (const step of createScript({ ...options, seed })) {
      const text = describeStep(step)
      done.add(text.replace(/, clickhouse-[12]$/, ''))
      const name = nameOf(step)
      if (step.act === 'clock' || name === step.act) continue
      const kind = name.replace(/-[12]$/, '')
      const isBack = isEnd(step)
      t.is(away.get(kind), isBack ? name : undefined, text)
      if (isBack) away.delete(kind)
      else away.set(kind, name)
    }
    t.deepEqual([...away], [])
  }
  for (const name of [...parts, ...nodes]) t.true(done.has(`kill -9 ${name}`), name)
  for (const name of [...parts, ...nodes]) t.true(done.has(`suspend ${name}`), name)
  for (const part of parts)
    for (const act of ['upgrade', 'roll back']) t.true(done.has(`${act} ${part}`), part)
  for (const node of nodes) t.true(done.has(`fill the disk of ${node}`), node)
  for (const broker of ['kafka-1', 'kafka-2'])
    t.true(done.has(`remove the data of ${broker}`), broker)
  for (const how of ['hangs', 'is slow'])
    t.true(done.has(`endpoint-1 ${how}`) || done.has(`endpoint-2 ${how}`), how)
  for (const { title } of REPLICA_FAULTS) t.true(done.has(title), title)
  t.true(done.has('another master of Redis'))
  const clocks = [...done].filter((text) => text.startsWith('the clock of'))
  const steps = new Set(clocks.map((text) => text.replace(/^.* is /, '')))
  t.deepEqual([...steps].sort(), [
    '1 hours fast',
    '1 hours slow',
    '240 hours fast',
    '240 hours slow',
  ])
})
