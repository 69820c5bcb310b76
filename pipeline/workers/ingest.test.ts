import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { startSimulator } from '../../infra/simulator/simulator.ts'
import type { SlotRecords, WalletRecord } from '../domain/slot.ts'
import { createWallets } from '../domain/wallets.ts'
import type { EventLog, LateOrigin } from '../log/log.ts'
import { createLogger } from '../runtime/logger.ts'
import { createRegistry } from '../runtime/telemetry.ts'
import { startIngest } from './ingest.ts'

const START = 405_000_000

/** A log that keeps what is appended. */
function recordingLog() {
  const slots: SlotRecords[] = []
  const late: { records: readonly WalletRecord[]; origin: LateOrigin }[] = []
  let wake: () => void = () => {}
  const log: Pick<EventLog, 'appendSlot' | 'appendLate'> = {
    async appendSlot(slot) {
      slots.push(slot)
      wake()
    },
    async appendLate(records, origin) {
      late.push({ records, origin })
      wake()
    },
  }
  return {
    log: log as EventLog, // ingest appends, nothing else
    slots,
    late,
    async until(done: () => boolean): Promise<void> {
      while (!done()) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

async function fakeRpc() {
  const server = createServer((_, response) => response.end('{"jsonrpc":"2.0","id":1,"result":1}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  }
}

test('every slot of the chain arrives on the log in order, with exactly the records that the market meant', async (t) => {
  const simulator = await startSimulator({
    clock: { kind: 'running', startSlot: START, speed: 40 },
  })
  const rpc = await fakeRpc()
  const recorded = recordingLog()
  const head = simulator.slot
  const ingest = await startIngest({
    config: {
      endpoint: simulator.endpoint,
      xToken: null,
      rpcUrl: rpc.url,
      pricePool: simulator.solPricePool,
      priceMaxAgeSeconds: 3600,
    },
    wallets: createWallets(simulator.wallets),
    log: recorded.log,
    checkpoint: async () => ({ slot: head, parent: head - 1, blockTime: 1, solPrice: null }),
    logger: createLogger('debug'),
    registry: createRegistry(),
  })
  await ingest.ready
  await recorded.until(() => recorded.slots.length >= 100)
  await ingest.stop()
  const got = recorded.slots.map(({ marker }) => marker.slot)
  t.deepEqual(
    got,
    got.map((_, at) => head + 1 + at),
  )
  for (const { marker, records } of recorded.slots) {
    const { events, balances } = simulator.truth(marker.slot)
    const plain = records.map((record) =>
      record.kind === 'swap' ? { ...record, solPriceUsdE9: null } : record,
    )
    t.deepEqual(
      plain.filter((record) => record.kind !== 'balance'),
      [...events],
    )
    t.deepEqual(
      plain.filter((record) => record.kind === 'balance'),
      [...balances],
    )
  }
  await simulator.close()
  rpc.close()
})
