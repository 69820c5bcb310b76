import test from 'ava'
import fc from 'fast-check'
import { createScript, type ScriptOptions, type ScriptStep } from './script.ts'

const OPTIONS: ScriptOptions = {
  seed: 1,
  slots: 3000,
  parts: ['api', 'workers', 'ingest'],
  servers: ['kafka', 'clickhouse', 'redis'],
  commands: [['recompute', '--wallet', 'all']],
  replaySlots: 256,
  longAbsence: true,
  addsWallet: true,
  isSparse: false,
}

const nameOf = (step: ScriptStep) =>
  'part' in step ? step.part : 'server' in step ? step.server : step.act

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
      const script = createScript({ ...OPTIONS, seed, isSparse: true, longAbsence: false })
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
  t.deepEqual(done(1, 7, one), [...always, 'kill all'].sort())
  const names = [...OPTIONS.parts, ...OPTIONS.servers].map((name) => `kill ${name}`)
  t.deepEqual(done(8, 10, { longAbsence: false, addsWallet: false }), [...always, ...names].sort())
})
