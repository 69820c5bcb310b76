import test from 'ava'
import { planReconnect, type StreamSettings } from './reconnect-policy.ts'

const settings: StreamSettings = { replays: true, addressesPerFilter: undefined, selection: null }
const WALLETS = 10

test('a stream that broke, fell silent or was refused is opened again after a backoff', (t) => {
  for (const end of [
    { kind: 'failed', message: 'cut' },
    { kind: 'silent' },
    { kind: 'refused' },
  ] as const) {
    t.deepEqual(planReconnect(end, settings, WALLETS), { kind: 'back_off', settings, clear: false })
  }
})

test('a stream that the consumer cannot follow is opened again without its unsealed slots', (t) => {
  const expected = { kind: 'back_off', settings, clear: true } as const
  t.deepEqual(planReconnect({ kind: 'behind' }, settings, WALLETS), expected)
})

test('slots out of range are read over RPC first', (t) => {
  for (const oldest of [15, null]) {
    const expected = { kind: 'catch_up', settings, oldest } as const
    t.deepEqual(planReconnect({ kind: 'out_of_range', oldest }, settings, WALLETS), expected)
  }
})

test('a server without replay is asked again at once, and after a backoff when it says so twice', (t) => {
  const changed = { ...settings, replays: false }
  t.deepEqual(planReconnect({ kind: 'no_replay' }, settings, WALLETS), {
    kind: 'reopen',
    settings: changed,
  })
  const expected = { kind: 'back_off', settings: changed, clear: false } as const
  t.deepEqual(planReconnect({ kind: 'no_replay' }, changed, WALLETS), expected)
})

test('a new limit of addresses is applied at once; the same limit again backs off', (t) => {
  const changed = { ...settings, addressesPerFilter: 2 }
  const end = { kind: 'too_many_addresses', most: 2 } as const
  t.deepEqual(planReconnect(end, settings, WALLETS), { kind: 'reopen', settings: changed })
  t.deepEqual(planReconnect(end, changed, WALLETS), {
    kind: 'back_off',
    settings: changed,
    clear: false,
  })
  t.deepEqual(planReconnect({ kind: 'too_many_addresses', most: 0 }, changed, WALLETS), {
    kind: 'back_off',
    settings,
    clear: false,
  })
})

test('a refused filter of wallets is replaced by the next kind, and after the last one backs off (rule K24)', (t) => {
  const end = { kind: 'filter_refused' } as const
  const after = (selection: StreamSettings['selection'], wallets: number) =>
    planReconnect(end, { ...settings, selection }, wallets)
  const reopen = (selection: 'cuckoo' | 'whole') =>
    ({ kind: 'reopen', settings: { ...settings, selection } }) as const
  t.deepEqual(after(null, 80_000), reopen('cuckoo'))
  t.deepEqual(after(null, 80_001), reopen('whole'))
  t.deepEqual(after('cuckoo', 10), reopen('whole'))
  const last = { ...settings, selection: 'whole' } as const
  t.deepEqual(after('whole', 10), { kind: 'back_off', settings: last, clear: false })
  t.deepEqual(after(null, 950_001), { kind: 'back_off', settings, clear: false })
})
