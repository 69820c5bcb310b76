import test from 'ava'
import { type Run, report } from './report.ts'

const MIB = 1024 * 1024
const memory = (mib: number) => ({ resident: mib * MIB, held: mib * MIB })
const good: Run = {
  results: [
    { kind: 'raw', title: 'a', faults: [], serverErrors: 0, ms: 5, note: 'one' },
    { kind: 'raw', title: 'b', faults: [], serverErrors: 0, ms: 7, note: 'two' },
  ],
  samples: [loop('quiet', 11), loop('raw', 40)],
  calls: [
    { kind: 'quiet', ms: 1, status: 200 },
    { kind: 'raw', ms: 3, status: 200 },
  ],
  memory: [{ before: memory(100), after: memory(105), isBack: true }],
  othersParts: [0.01],
}

function loop(kind: string, ms: number): Run['samples'][number] {
  return {
    kind,
    seconds: 1,
    mean: 10,
    p50: 10,
    p90: ms,
    p99: ms,
    max: ms,
    cpuWaitMs: 20,
    memory: memory(100),
  }
}

test('a run that reaches every aim misses none, and has a row for each kind', (t) => {
  const { text, missed } = report(good)
  t.deepEqual(missed, [])
  t.deepEqual(
    text.split('\n').filter((line) => /^\| (quiet|raw|total) /.test(line)),
    [
      '| quiet | 0 | 0 | 0 | 0 | 11.0 | 11.0 | 2% | 100 | 1.0 | 1.0 | 0 |',
      '| raw | 2 | 0 | 0 | 7 | 40.0 | 40.0 | 2% | 100 | 3.0 | 3.0 | 0 |',
      '| total | 2 | 0 | 0 | 7 | 40.0 | 40.0 | 2% | 100 | 3.0 | 3.0 | 0 |',
    ],
  )
})

test('every aim that is missed is named, and a failed case with what repeats it', (t) => {
  const failed = { kind: 'raw', title: 'c', faults: ['503'], serverErrors: 1, ms: 9, note: 'again' }
  const { text, missed } = report({
    results: [...good.results, failed],
    samples: [loop('quiet', 11), loop('raw', 51)],
    calls: [...good.calls, { kind: 'raw', ms: 9, status: 0 }],
    memory: [{ before: memory(100), after: memory(111), isBack: false }],
    othersParts: [0.01],
  })
  t.deepEqual(missed, [
    '1 answers were 5xx',
    '1 cases failed',
    'event-loop delay p99 over 50 ms: raw',
    '1 calls of the quiet customer failed: 1 times no answer',
    'memory not back within 10%: resident 100 MiB before, 111 after; heap and external 100 before, 111 after',
  ])
  t.true(text.includes('- raw, c: 503\n  again'))
})

test('on a busy machine the event-loop delay is reported and not judged', (t) => {
  const { text, missed } = report({ ...good, samples: [loop('raw', 51)], othersParts: [0.01, 0.4] })
  t.deepEqual(missed, [])
  t.true(
    text.includes(
      'NOT JUDGED, in a short run or on a busy machine: event-loop delay p99 over 50 ms: raw',
    ),
  )
})

test('a short run reports delay and memory and judges responses alone', (t) => {
  const run = {
    ...good,
    samples: [loop('raw', 51)],
    memory: [{ before: memory(100), after: memory(111), isBack: false }],
  }
  const { text, missed } = report(run, false)
  t.deepEqual(missed, [])
  t.is(text.match(/^NOT JUDGED, in a short run/gm)?.length, 2)
})
