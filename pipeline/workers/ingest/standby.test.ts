import { setImmediate as nextTurn } from 'node:timers/promises'
import { SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import test from 'ava'
import { address } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { createWallets } from '../../domain/wallets.ts'
import { createLogger } from '../../runtime/logger.ts'
import { startStandby } from './standby.ts'

// The generated type of a partial message does not accept literals.
const encode = (update: object) =>
  SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update as never)).finish()
/** The end of a slot, of which the first updates may be missing, and a whole slot. */
const SLOTS = [
  encode({ slot: { slot: '6', status: 1 } }),
  encode({ blockMeta: { slot: '7', parentSlot: '6', blockTime: { timestamp: '1' } } }),
  encode({ slot: { slot: '7', status: 1 } }),
]

test('a standby does not take over from a leader of a newer version, whose slots it cannot read (rule K18)', async (t) => {
  let calls = 0
  let led = 0
  let receive: (bytes: Uint8Array) => void = () => {}
  const standby = await startStandby({
    config: { endpoint: 'http://server', xToken: null, pricePool: address('1'.repeat(32)) },
    wallets: createWallets([]),
    open: async ({ onUpdate }) => {
      receive = onUpdate
      return { send() {}, close() {} }
    },
    log: {
      partitions: 1,
      consume: async () => ({ close: async () => {} }),
      checkpoint: async () => null,
      checkFormat: async () => {
        calls += 1
        if (calls < 3) throw new ServiceError('newer_format', 'upgrade this process')
      },
      extent: async () => ({ id: 'log', partitions: new Map() }),
      lead: async () => void led++,
    },
    logger: createLogger('silent'),
    limits: { leaderLostMs: 1, leaderUnknownMs: 1, leaderStuckMs: 60_000 },
  })
  await nextTurn() // the stream is open
  for (const bytes of SLOTS) receive(bytes)
  t.true(await standby.elected)
  t.deepEqual({ calls, led }, { calls: 3, led: 1 })
  await standby.close()
})
