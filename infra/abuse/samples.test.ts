import test from 'ava'
import { collectProcessMetrics, createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { isMemoryBack, mergedP99, readSample, type Sample } from './samples.ts'

const second = (p50: number, p90: number, p99: number, max: number): Sample => ({
  seconds: 1,
  mean: 10,
  p50,
  p90,
  p99,
  max,
  cpuWaitMs: null,
  memory: { resident: 0, held: 0 },
})

test('one bad second of a hundred does not move the p99 of the rest; two do', (t) => {
  const quiet = Array.from({ length: 99 }, () => second(10, 11, 12, 13))
  const bad = second(80, 90, 100, 200)
  t.is(mergedP99(quiet), 12)
  t.is(mergedP99([...quiet, bad]), 13)
  t.is(mergedP99([...quiet, bad, bad]), 80)
  t.is(mergedP99([]), Number.NaN)
})

test('a longer time between two scrapes counts for more', (t) => {
  const bad = second(80, 90, 100, 200)
  const quiet = { ...second(10, 11, 12, 13), seconds: 60 }
  t.is(mergedP99([quiet, bad]), 80)
  t.is(mergedP99([quiet, { ...bad, seconds: 0.001 }]), 13)
})

test('memory is back within 10%, resident memory beyond what the store takes by itself', (t) => {
  const memory = (resident: number, held: number) => ({
    resident: resident * 1024 * 1024,
    held: held * 1024 * 1024,
  })
  const before = memory(500, 50)
  t.true(isMemoryBack(before, memory(550, 55), 0))
  t.false(isMemoryBack(before, memory(550, 56), 0))
  t.false(isMemoryBack(before, memory(551, 55), 0))
  t.true(isMemoryBack(before, memory(590, 55), 120))
  t.false(isMemoryBack(before, memory(591, 55), 120))
})

test('the metrics of a process give event-loop delay and memory', async (t) => {
  const registry = createRegistry()
  collectProcessMetrics(registry)
  let sample = null
  while (sample === null) {
    // The delay is sampled every 10 ms, and each scrape starts anew.
    await new Promise((resolve) => setTimeout(resolve, 25))
    sample = readSample(await registry.metrics(), 1)
  }
  t.true(sample.p99 > 0 && sample.p99 <= sample.max)
  t.true(sample.memory.resident > sample.memory.held && sample.memory.held > 0)
  t.is(readSample('nothing 1\n', 1), null)
})
