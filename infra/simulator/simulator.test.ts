import test from 'ava'
import { startSimulator } from './simulator.ts'
import { collect, connect, followWallets } from './testing/client.ts'

const START = 405_000_000

test('a subscription by wallet gets every transaction that the truth knows, once, and nothing else', async (t) => {
  const simulator = await startSimulator({ clock: { kind: 'manual', startSlot: START } })
  const client = await connect(simulator)
  const stream = await collect(await client.subscribe(followWallets(simulator)))
  simulator.advance(41)
  await stream.until((update) => update.slot?.slot === String(START + 40))
  const expected: string[] = []
  for (let slot = START; slot <= START + 40; slot += 1) {
    const { events, balances } = simulator.truth(slot)
    const indexes = new Set([...events, ...balances].map((record) => record.txIndex))
    for (const index of [...indexes].sort((a, b) => a - b)) expected.push(`${slot}/${index}`)
  }
  const got = stream.updates.flatMap(({ transaction }) =>
    transaction === undefined ? [] : [`${transaction.slot}/${transaction.transaction?.index}`],
  )
  t.true(expected.length > 20)
  t.deepEqual(got, expected)
  stream.close()
  await simulator.close()
})
