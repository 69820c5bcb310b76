import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { ROOT } from '../../whole-service/service-process.ts'
import { capacityOf, capacityRows, limitTexts, timesToday } from './model.ts'
import { UNIT_COSTS, type UnitCost, unitCostRows } from './unit-costs.ts'

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const RESULTS = read('infra/decisions/bench-results.md')
const PAGE = read('docs/capacity.md')

/** Computed by hand from the unit costs. */
test('a load needs what its unit costs add up to', (t) => {
  const load = { wallets: 100_000, swaps: 4000, sockets: 1000, answers: 50_000 }
  const capacity = capacityOf(load)
  t.deepEqual(capacityRows(capacity), [
    // 4,000 x 160 us; 4,000 x (7,021 + 2,117) bytes
    ['ingest', '2', '0.64', '2.00', '0.00', '37', '0.16'],
    // 4,000 x 300 us; 4,000 x (2,117 + 400 + 8,446) bytes
    ['workers', '3', '1.20', '1.48', '0.00', '44', '0.30'],
    // 50,000 x 76 + 40,000 x 0.88 + 3,960 x 9.95 us, and 35 times 388,000 us; 43,960 trades,
    // 50,000 answers, 35 times the log and the states; 35 times 2,000,000 positions
    ['api', '35', '17', '24', '0.00', '879', '4.36'],
    // 2 x 4,000 x 80 us; 2 x 4,000 x 2,117 bytes
    ['webhooks', '2', '0.64', '1.00', '0.00', '17', '0.16'],
    // 3 x 4,000 x 70 us; 8.47 MB a second for 604,800 s and 1.6 MB for 86,400 s, three times; the
    // log 41 times over the network, the states 38 times
    ['Kafka', '3', '0.84', '12', '16', '408', '2.82'],
    // 2 x (4,000 x 380 us + 2.5 x 3 x 10 x 8 ms); 2 x 4,000 x 2,171 bytes x 31,536,000 s
    ['ClickHouse', '2', '4.24', '32', '548', '68', '98'],
    // 2 x 50,000 / 70,936
    ['Redis', '2', '1.41', '2.00', '0.00', '0.00', '0.35'],
  ])
  t.is(capacity.machines, 106)
  t.deepEqual(limitTexts(capacity, 3), [
    'the disk of a ClickHouse server, after a year 4890%',
    'the disk of a Kafka broker 94%',
    'the thread of Redis 70%',
  ])
})

test('ingest reads the whole chain when the wallets do not fit in a filter', (t) => {
  const quiet = { swaps: 0, sockets: 0, answers: 0 }
  const needOf = (wallets: number) => {
    const [ingest] = capacityOf({ wallets, ...quiet }).roles
    return { cores: ingest?.cores.toFixed(4), networkMb: ingest?.networkMb.toFixed(3) }
  }
  t.deepEqual(needOf(950_000), { cores: '0.0000', networkMb: '0.000' })
  t.deepEqual(needOf(950_001), { cores: '0.0225', networkMb: '35.105' })
})

test('each API process has less time for answers because it reads the log', (t) => {
  const load = { wallets: 1000, swaps: 1000, sockets: 0, answers: 50_000 }
  const { processes, cores } = capacityOf(load).roles[2] ?? {}
  // 3.8 cores of answers; each process has half a core, less 1,000 x 97 us
  t.deepEqual({ processes, cores: cores?.toFixed(4) }, { processes: 10, cores: '4.7700' })
})

test('each measured unit cost stands in the section of the results that it names', (t) => {
  const sections = new Map(
    RESULTS.split(/^##+ /m).map((section) => [section.slice(0, section.indexOf('\n')), section]),
  )
  for (const { what, value, source } of Object.values<UnitCost>(UNIT_COSTS)) {
    if (source === null) continue
    const figure = new RegExp(`(?<![\\d.,])${value.toLocaleString('en-US')}(?![\\d]|[.,]\\d)`)
    t.regex(sections.get(source.table) ?? '', figure, what)
  }
})

test('the page of capacity has the unit costs, and what they add up to', (t) => {
  const cellsOf = (row: readonly string[]) => row.map((cell) => cell.trim()).join(' | ')
  const rows = PAGE.split('\n').filter((line) => line.startsWith('|'))
  const found = new Set(rows.map((line) => cellsOf(line.split('|').slice(1, -1))))
  const capacities = [1, 10, 100].map((times) => capacityOf(timesToday(times)))
  const wanted = [...unitCostRows(), ...capacities.flatMap(capacityRows)].map(cellsOf)
  t.deepEqual(
    wanted.filter((row) => !found.has(row)),
    [],
  )
  const text = PAGE.replaceAll(/\s+/g, ' ')
  for (const capacity of capacities)
    for (const one of limitTexts(capacity, 3)) t.true(text.includes(one), one)
})
