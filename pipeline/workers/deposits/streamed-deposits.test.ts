import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { ServiceError } from '../../domain/service-error.ts'
import { createLogger } from '../../runtime/logger.ts'
import type { DepositRow } from './deposit-rows.ts'
import { StreamedDeposits } from './streamed-deposits.ts'

const logger = createLogger('silent')

const row = (signature: string): DepositRow => ({
  wallet: 'a wallet',
  purpose: 'credits',
  signature,
  slot: 1,
  tx_index: 0,
  block_time: 1,
  amount: 5n,
  finalized: 0,
})

test('rows that arrive during an insert are stored together after it', async (t) => {
  const inserted: string[][] = []
  const ends: (() => void)[] = []
  const deposits = new StreamedDeposits((rows) => {
    inserted.push(rows.map(({ signature }) => signature))
    return new Promise((resolve) => ends.push(resolve))
  }, logger)
  deposits.add([row('a')])
  deposits.add([row('b')])
  deposits.add([row('c')])
  ends[0]?.()
  await nextTurn()
  t.deepEqual(inserted, [['a'], ['b', 'c']])
  ends[1]?.()
  await deposits.idle()
})

test('rows that the store refuses are dropped; later ones are stored, until it is closed', async (t) => {
  const inserted: string[] = []
  let isDown = true
  const deposits = new StreamedDeposits(async (rows) => {
    if (isDown) throw new ServiceError('unavailable', 'the store is down', { retriable: true })
    for (const { signature } of rows) inserted.push(signature)
  }, logger)
  deposits.add([row('a')])
  await deposits.idle()
  isDown = false
  deposits.add([row('b')])
  await deposits.idle()
  deposits.close()
  deposits.add([row('c')])
  await deposits.idle()
  t.deepEqual(inserted, ['b'])
})
