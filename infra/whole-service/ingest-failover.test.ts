import test from 'ava'
import { startSimulator } from '../simulator/simulator.ts'
import { WHY_NO_SERVERS } from './deployment.ts'
import { IngestPair } from './ingest-pair.ts'

const withServers = WHY_NO_SERVERS === '' ? test.serial : test.skip
const title =
  'a standby takes over from a leader that is killed (-9), from one that is stopped, and from one that is suspended, which can append nothing when it goes on: the log has each slot and event of the market once (rule K14)'

withServers(WHY_NO_SERVERS === '' ? title : `${title} (skipped: ${WHY_NO_SERVERS})`, async (t) => {
  const simulator = await startSimulator({ wallets: 5, coins: 20, trackedPerSlot: 3 })
  try {
    const pair = await IngestPair.start(simulator)
    try {
      await pair.pass(5)
      const killed = await pair.lose('kill')
      t.is(killed.exit, 'SIGKILL')
      const stopped = await pair.lose('stop')
      const suspended = await pair.lose('suspend')
      t.deepEqual(
        { exit: suspended.exit, said: suspended.said },
        { exit: 1, said: 'another process appends to the log now' },
      )
      await pair.pass(5)
      const gaps = [killed, stopped, suspended].map(({ gapMs }) => Math.round(gapMs))
      t.log(`no slot for ${gaps.join(', ')} ms`)
      t.deepEqual(pair.audit.faults(simulator), [])
    } finally {
      await pair.remove()
    }
  } finally {
    await simulator.close()
  }
})
