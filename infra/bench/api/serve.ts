import { randomBytes } from 'node:crypto'
import { createApi } from '../../../api/api.ts'
import { newJwtKeys, readJwtKeys } from '../../../api/auth/jwt-keys.ts'
import { apiConfig } from '../../../api/config.ts'
import { createCursorCodec } from '../../../api/cursor.ts'
import { Feed } from '../../../api/stream/feed.ts'
import { addressFromBytes } from '../../../pipeline/domain/address.ts'
import { createMemoryLog } from '../../../pipeline/log/memory.ts'
import { createLogger } from '../../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../../pipeline/runtime/telemetry.ts'
import { createStore } from '../../../pipeline/store/create-store.ts'
import { migrate } from '../../../pipeline/store/migrate.ts'
import { StatePublisher } from '../../../pipeline/workers/fold/state-publisher.ts'
import { loadConfig } from '../../service/config.ts'
import { createCreditSystem, openLimitsRedis, openMeter } from '../../service/credit-system.ts'
import { print } from '../kit/figures.ts'
import { lastSlot, openLiveEdge, seed, storeMarker } from './seed.ts'

/**
 * The API as a separate process over a store that it fills first: authentication, credits and
 * limits on, the log in memory and silent. Prints `seeded=<seconds>`, `keys=` with a key of each of
 * `ACCOUNTS` accounts, and `url=`. Then storage advances by a slot every `SLOT_MS`, with
 * `SWAPS_PER_SLOT` swaps.
 */
const { ACCOUNTS = '1', SWAPS = '0', SLOT_MS = '400', SWAPS_PER_SLOT = '4', ...env } = process.env
const swaps = Number(SWAPS)
const config = loadConfig(env)
const logger = createLogger('warn')
const registry = createRegistry()
const store = await createStore(config.store)
const started = performance.now()
await migrate(store)
const [{ stored }] = (await store.query<{ stored: string }>(
  "SELECT toString(max(slot)) AS stored FROM progress WHERE worker = 'fold'",
)) as [{ stored: string }] // an aggregate gives one row
if (stored === '0') {
  await seed(store, swaps)
  await storeMarker(store, lastSlot(swaps))
}
print(`seeded=${((performance.now() - started) / 1000).toFixed(1)}`)

const meter = await openMeter(config.meter, logger)
const redis = await openLimitsRedis(config.meter, logger)
const { credits, accounts } = createCreditSystem(store, meter, logger, redis)
const log = createMemoryLog({ logger, registry }, { partitions: 1 })
const secretKey = Buffer.alloc(32, 1)
const cursorKeys = { secretKeys: [secretKey], tradeIdKey: secretKey } as const
const cursors = createCursorCodec(cursorKeys)
const jwtKeys = await readJwtKeys(await newJwtKeys(), 'bench')
const settings = apiConfig(config.api, { ...cursorKeys, jwtKeys })
const feed = new Feed({
  log,
  cursors,
  credits,
  connectionsPerKey: 1,
  logger,
  registry,
  messagesPerMinute: settings.feedMessagesPerMinute,
})
const api = createApi({
  config: settings,
  store,
  log,
  feed,
  credits,
  accounts,
  redis,
  logger,
  registry,
  perturb: null,
})
const keys: string[] = []
for (let account = 0; account < Number(ACCOUNTS); account++) {
  const wallet = addressFromBytes(randomBytes(32))
  keys.push((await accounts.create(wallet, 1_000_000_000_000)).apiKey)
}
const { url } = await api.listen()
print(`keys=${keys.join()}`)
print(`url=${url}`)

const states = new StatePublisher(store, log.states)
const edge = await openLiveEdge(states, Math.max(Number(stored), lastSlot(swaps)), swaps)
let moving = Promise.resolve()
const timer = setInterval(() => {
  moving = moving.then(() => edge.addSlot(Number(SWAPS_PER_SLOT)))
}, Number(SLOT_MS))

process.once('SIGTERM', async () => {
  clearInterval(timer)
  await moving
  await api.close()
  redis?.disconnect()
  await meter.close()
  await log.close()
  await store.close()
})
