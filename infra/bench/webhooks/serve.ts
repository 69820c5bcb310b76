import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { Webhooks } from '../../../api/webhooks/webhooks.ts'
import { readFeedSecrets } from '../../service/api.ts'
import { loadConfig } from '../../service/config.ts'
import { createContext } from '../../service/context.ts'
import { applySchema, openStores } from '../../service/stores.ts'
import { startWebhooks } from '../../service/webhooks.ts'
import { storeFundedAccounts } from '../kit/funded-accounts.ts'
import { tradesSlot } from '../kit/trades-slot.ts'
import type { FromService, SlotSchedule, ToService } from './protocol.ts'
import { hooksOf } from './tally.ts'

/**
 * A process of the service with the configuration of its environment. Messages say what it does:
 * one process makes webhooks and publishes slots, another one, or without servers the same,
 * delivers.
 */
const PER_ACCOUNT = 10
const CREDITS = 1e9

const config = loadConfig(process.env)
const context = createContext(config, undefined)
const stores = await openStores(context)
const { store } = stores
await applySchema(store, context.logger)
const profiler = new Session()
profiler.connect()
tell({ kind: 'ready' })

process.on('message', async (message: ToService) => {
  switch (message.kind) {
    case 'prepare':
      await makeWebhooks(message.ports)
      return tell({ kind: 'prepared' })
    case 'deliver':
      await startWebhooks(context, stores, { secrets: await readFeedSecrets(config), feed: null })
      await untilRunning(message.hooks)
      return tell({ kind: 'delivering' })
    case 'publish':
      return tell({ kind: 'published', times: await publish(message) })
    case 'profile':
      await profiler.post('Profiler.enable')
      await profiler.post('Profiler.start')
      return tell({ kind: 'profiling' })
    case 'write-profile': {
      const { profile } = await profiler.post('Profiler.stop')
      writeFileSync(message.file, JSON.stringify(profile))
      return tell({ kind: 'written' })
    }
  }
})

function tell(message: FromService): void {
  process.send?.(message)
}

/** Makes a webhook for each port, and for every ten of them an account and a funded balance. */
async function makeWebhooks(ports: readonly number[]): Promise<void> {
  const wallets = ports.map((_, hook) => ({ wallet: hook + 1, address: '', added_at: 0 }))
  await store.insert('tracked_wallets', wallets)
  const accounts = await storeFundedAccounts(stores, Math.ceil(ports.length / PER_ACCOUNT), CREDITS)
  const webhooks = new Webhooks({ store, locks: stores.locks, now: Date.now })
  await Promise.all(
    accounts.map(async ({ account }, at) => {
      for (let hook = at * PER_ACCOUNT; hook < (at + 1) * PER_ACCOUNT; hook++) {
        const port = ports[hook]
        if (port === undefined) return
        const url = `http://127.0.0.1:${port}/`
        const terms = { url, channel: 'trades', wallets: [hook + 1], mints: [], after: '' } as const
        if ((await webhooks.create(account, terms)) === null) throw new Error('no place is free')
      }
    }),
  )
}

/** Resolves when so many webhooks have stored where they begin. */
async function untilRunning(hooks: number): Promise<void> {
  for (;;) {
    const [row] = await store.query<{ running: number }>(
      'SELECT toUInt32(uniqExact(id)) AS running FROM webhook_progress',
    )
    if (row?.running === hooks) return
    await pause(200)
  }
}

async function publish(schedule: SlotSchedule): Promise<number[]> {
  const { firstSlot, slots, slotMs } = schedule
  const times: number[] = []
  const started = performance.now()
  for (let at = 0; at < slots; at++) {
    await pause(Math.max(0, started + at * slotMs - performance.now()))
    const wallets = hooksOf(firstSlot + at, schedule).map((hook) => hook + 1)
    times.push(Number(process.hrtime.bigint() / 1000n))
    await stores.log.appendSlot(tradesSlot(firstSlot + at, wallets))
  }
  return times
}
