import { capacityOf, capacityRows, limitTexts, timesToday } from './capacity/model.ts'
import { unitCostRows } from './capacity/unit-costs.ts'
import { print, printHead, printRow } from './kit/figures.ts'
import { readOptions } from './kit/options.ts'

const USAGE = `npm run -s bench -- capacity [options]

  --wallets N     tracked wallets (10000)
  --swaps N       swaps a second, all year (30)
  --sockets N     sockets of the feed, one in a hundred of which takes every trade (1000)
  --answers N     REST answers a second (500)
  --costs         print the unit costs too`

/**
 * Prints what a load needs of each role, by the unit costs of `capacity/unit-costs.ts`, and what is
 * full first. Measures nothing.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, { ...timesToday(1), costs: false })
  if (read === null) return
  const { costs, ...load } = read.options
  const bad = Object.entries(load).find(([name, value]) => !isAmount(value, name === 'wallets'))
  if (bad !== undefined) throw new Error(`--${bad[0]}: expected a number\n${USAGE}`)
  if (costs) {
    printHead('stage', 'what', 'cost', 'source')
    for (const row of unitCostRows()) printRow(...row)
    print('')
  }
  const capacity = capacityOf(load)
  printHead('role', 'processes', 'cores', 'GiB', 'TB', 'MB/s', 'machines')
  for (const row of capacityRows(capacity)) printRow(...row)
  print(`\nmachines: ${capacity.machines}`)
  print(`fullest: ${limitTexts(capacity, 3).join('; ')}`)
}

function isAmount(value: number, isAboveZero: boolean): boolean {
  return Number.isFinite(value) && (isAboveZero ? value > 0 : value >= 0)
}
