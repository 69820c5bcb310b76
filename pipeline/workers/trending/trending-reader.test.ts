import test from 'ava'
import type { TokenEventRow } from '../../store/tables/token-events.ts'
import { eventsOf } from './trending-reader.ts'

const row = (fields: Partial<TokenEventRow>): TokenEventRow => ({
  wallet: 1,
  slot: '10',
  tx_index: 0,
  event_index: 0,
  block_time: 1000,
  kind: 'buy',
  mint: 'a mint',
  decimals: 6,
  amount: '5',
  value: null,
  price: null,
  pool: '',
  version: '0',
  is_deleted: 0,
  ...fields,
})

test('of the rows of a key the highest version counts, and none when it is a tombstone', (t) => {
  const swaps = [
    row({ slot: '12', amount: '7', version: '10' }),
    row({ slot: '12', amount: '6', version: '9' }),
    row({ slot: '11', version: '0' }),
    row({ slot: '11', version: '1', is_deleted: 1 }),
  ]
  const transfers = [row({ slot: '9', kind: 'token_in' })]
  const found = eventsOf(swaps, transfers)
  t.deepEqual(
    found.map(({ slot, kind, amount }) => ({ slot, kind, amount })),
    [
      { slot: 9, kind: 'token_in', amount: 5n },
      { slot: 12, kind: 'buy', amount: 7n },
    ],
  )
})
