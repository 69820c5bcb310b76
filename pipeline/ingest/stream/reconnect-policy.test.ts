import test from 'ava'
import { planReconnect, type StreamSettings } from './reconnect-policy.ts'

const settings: StreamSettings = { replays: true, addressesPerFilter: undefined }

test('a stream that broke, fell silent or was refused is opened again after a backoff', (t) => {
  for (const end of [
    { kind: 'failed', message: 'cut' },
    { kind: 'silent' },
    { kind: 'refused' },
  ] as const) {
    t.deepEqual(planReconnect(end, settings), { kind: 'back_off', settings, clear: false })
  }
})

test('a stream that the consumer cannot follow is opened again without its unsealed slots', (t) => {
  const expected = { kind: 'back_off', settings, clear: true } as const
  t.deepEqual(planReconnect({ kind: 'behind' }, settings), expected)
})

test('slots out of range are read over RPC first', (t) => {
  for (const oldest of [15, null]) {
    const expected = { kind: 'catch_up', settings, oldest } as const
    t.deepEqual(planReconnect({ kind: 'out_of_range', oldest }, settings), expected)
  }
})

test('a server without replay is asked again at once, and after a backoff when it says so twice', (t) => {
  const changed = { ...settings, replays: false }
  t.deepEqual(planReconnect({ kind: 'no_replay' }, settings), { kind: 'reopen', settings: changed })
  const expected = { kind: 'back_off', settings: changed, clear: false } as const
  t.deepEqual(planReconnect({ kind: 'no_replay' }, changed), expected)
})

test('a new limit of addresses is applied at once; the same limit again backs off', (t) => {
  const changed = { ...settings, addressesPerFilter: 2 }
  const end = { kind: 'too_many_addresses', most: 2 } as const
  t.deepEqual(planReconnect(end, settings), { kind: 'reopen', settings: changed })
  t.deepEqual(planReconnect(end, changed), { kind: 'back_off', settings: changed, clear: false })
  t.deepEqual(planReconnect({ kind: 'too_many_addresses', most: 0 }, changed), {
    kind: 'back_off',
    settings,
    clear: false,
  })
})
