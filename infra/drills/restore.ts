import { print, printHead, printRow } from '../bench/kit/figures.ts'
import { readOptions } from '../bench/kit/options.ts'
import { runRestoreCase } from './kit/restore-case.ts'

const USAGE = `npm run -s drill -- restore --data DIR [options]

Backs up ClickHouse while a service runs over the simulator, with a customer who calls and follows
the feed: all of it, and later what is new (--base). Then ends every process, empties ClickHouse,
restores the second backup, and starts the service again. Six cases: Kafka newer than the backup,
older, or gone; each with Redis kept and lost. Exits with 1 unless every table equals the slow
reference, credits add up, and the feed resumes from positions handed out before and after the
backup without loss or repetition.

  --data DIR     folder of servers (infra/servers) that the drill may stop; left running
  --case NAME    one case, for example newer-kept, older-lost, gone-kept
  --seed N       of the market and its trouble (1)
  --slots N      slots before the first backup, and after the second (100)`

const KAFKA = ['newer', 'older', 'gone'] as const
const REDIS = ['kept', 'lost'] as const

/** Runs the cases. Returns whether all of them held. */
export async function run(args: readonly string[]): Promise<boolean> {
  const read = readOptions(args, USAGE, { data: '', case: '', seed: 1, slots: 100 })
  if (read === null) return true
  const { data, case: only, seed, slots } = read.options
  if (data === '') throw new Error(USAGE)
  const results: (readonly (string | number)[])[] = []
  let holds = true
  for (const kafka of KAFKA)
    for (const redis of REDIS) {
      const name = `${kafka}-${redis}`
      if (only !== '' && only !== name) continue
      const startedAt = Date.now()
      const tell = (line: string) =>
        print(`${name} ${((Date.now() - startedAt) / 1000).toFixed(1)} s  ${line}`)
      const found = await runRestoreCase({ data, seed, slots, kafka, redis, tell })
      for (const fault of found.faults) tell(`FAULT ${fault}`)
      holds &&= found.faults.length === 0
      const { rows, backupSeconds, restoreSeconds, recoverySeconds, forgiven } = found
      const outcome = found.faults.length === 0 ? 'holds' : `${found.faults.length} faults`
      results.push([kafka, redis, rows, backupSeconds, restoreSeconds, recoverySeconds, forgiven])
      tell(outcome)
    }
  if (results.length === 0) throw new Error(USAGE) // no case has that name
  printHead('Kafka', 'Redis', 'rows', 'backup s', 'restore s', 'recovery s', 'credits forgiven')
  for (const result of results) printRow(...result)
  return holds
}
