import { loadavg } from 'node:os'
import { join } from 'node:path'
import { cpuSeconds, mainThreadCpuSeconds } from './kit/cpu.ts'
import { percentiles, print, printHead, printRow } from './kit/figures.ts'
import { inFolder } from './kit/folder.ts'
import { Helper } from './kit/helper.ts'
import { type Mode, readModes, withMode } from './kit/modes.ts'
import { readOptions } from './kit/options.ts'
import { startOptions } from './kit/start-options.ts'
import type {
  FromReceivers,
  FromService,
  SlotSchedule,
  ToReceivers,
  ToService,
} from './webhooks/protocol.ts'
import { tally } from './webhooks/tally.ts'

const DEFAULTS = {
  hooks: 1000,
  rate: 500,
  'slot-ms': 400,
  seconds: 30,
  slow: '0,1,10',
  mode: 'embedded,servers',
  profile: '',
}
const USAGE = `npm run bench -- webhooks [options]

  --hooks N        webhooks, ten an account, each of the trades of a wallet of its own (1000)
  --rate N         trades a second, each for one webhook (500)
  --slot-ms N      length of the market's slots (400)
  --seconds N      how long is measured, for each number of slow receivers (30)
  --slow LIST      how many receivers never answer, rising, with commas between (0,1,10)
  --mode M         embedded or servers, or several with commas between (embedded,servers)
  --profile FILE   writes a CPU profile of the delivering process, of the last mode`

/** Slots that warm the compiler and open connections before what is measured. */
const WARM_UP_MS = 5000
const FIRST_SLOT = 1_000_000

/**
 * Milliseconds from handing a slot to the log to the arrival of its trades at the receivers of
 * webhooks, while some receivers never answer; whether each trade came once and in order; CPU of
 * the delivering process. The receivers are a process of their own. Embedded, the process that
 * delivers also publishes; with servers, another one does.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, DEFAULTS)
  if (read === null) return
  const { options } = read
  const modes = readModes(options.mode, ['embedded', 'servers'])
  if (modes === null) return print(USAGE)
  print(
    `${options.hooks} webhooks, ${options.rate} trades a second in slots of ${options['slot-ms']} ms, ${options.seconds} s each\n`,
  )
  printHead(
    ...['mode', 'slow receivers', 'deliveries/s', 'p50 ms', 'p99 ms', 'max ms'],
    ...['trades', 'missing', 'repeated', 'out of order'],
    ...['CPU', 'event loop', 'CPU ms a delivery', 'load'],
  )
  for (const mode of modes)
    await withMode(mode, (servers) =>
      inFolder((folder) => measure(mode, options, { ...servers, DATA_DIR: join(folder, 'data') })),
    )
}

type Options = typeof DEFAULTS
type Service = Helper<ToService, FromService>
type Receivers = Helper<ToReceivers, FromReceivers>

async function measure(
  mode: Mode,
  options: Options,
  servers: Readonly<Record<string, string>>,
): Promise<void> {
  const { hooks, profile } = options
  const roles: Readonly<Record<string, string>> = mode === 'embedded' ? {} : { ROLES: 'webhooks' }
  const env = { ...servers, ...roles, WEBHOOK_LOOPBACK: 'true', LOG_LEVEL: 'warn' }
  const script = (name: string) => join(import.meta.dirname, 'webhooks', name)
  const started: Pick<Service, 'end'>[] = []
  const start = async () => {
    const service: Service = new Helper(script('serve.js'), env, startOptions())
    started.push(service)
    await service.hear('ready')
    return service
  }
  try {
    const receivers: Receivers = new Helper(script('receivers.js'), {})
    started.push(receivers)
    const { ports } = await receivers.ask({ kind: 'listen', receivers: hooks }, 'listening')
    const market = await start()
    await market.ask({ kind: 'prepare', ports }, 'prepared')
    const deliverer = mode === 'embedded' ? market : await start()
    await deliverer.ask({ kind: 'deliver', hooks }, 'delivering')
    if (profile !== '') await deliverer.ask({ kind: 'profile' }, 'profiling')
    let firstSlot = FIRST_SLOT
    for (const slow of options.slow.split(',').map(Number)) {
      const schedule = { ...scheduleOf(options), firstSlot }
      const figures = await measureSlow(slow, schedule, { market, deliverer, receivers })
      printRow(mode, slow, ...figures, loadavg()[0]?.toFixed(1) ?? '')
      firstSlot += schedule.slots
    }
    if (profile !== '') await deliverer.ask({ kind: 'write-profile', file: profile }, 'written')
  } finally {
    await Promise.all(started.map((one) => one.end()))
  }
}

function scheduleOf(options: Options): Omit<SlotSchedule, 'firstSlot'> {
  const { hooks, rate, seconds, 'slot-ms': slotMs } = options
  const slots = Math.ceil((WARM_UP_MS + seconds * 1000) / slotMs)
  return { slots, slotMs, perSlot: Math.round((rate * slotMs) / 1000), hooks }
}

async function measureSlow(
  slow: number,
  schedule: SlotSchedule,
  processes: {
    readonly market: Service
    readonly deliverer: Service
    readonly receivers: Receivers
  },
): Promise<string[]> {
  const { market, deliverer, receivers } = processes
  const { firstSlot, slotMs, hooks } = schedule
  // They are of different accounts, which have other webhooks.
  const held = Array.from({ length: slow }, (_, at) => at * Math.floor(hooks / slow))
  await receivers.ask({ kind: 'hold', hooks: held }, 'holding')
  const { expected } = tally(schedule, new Set(held), [])
  const cpu = () => [cpuSeconds(deliverer.pid), mainThreadCpuSeconds(deliverer.pid)] as const
  const [all, loop] = cpu()
  const received = receivers.ask({ kind: 'expect', trades: expected }, 'received')
  const { times } = await market.ask({ kind: 'publish', ...schedule }, 'published')
  const { arrivals, deliveries } = await received
  const [allUsed, loopUsed] = cpu().map((now, at) => now - ([all, loop][at] ?? 0))
  const last = Math.max(...arrivals.map(([, , at]) => at))
  const seconds = (last - (times[0] ?? Number.NaN)) / 1e6
  const measured = arrivals.filter(([, slot]) => slot >= firstSlot + WARM_UP_MS / slotMs)
  const ms = measured.map(([, slot, at]) => (at - (times[slot - firstSlot] ?? Number.NaN)) / 1000)
  const { missing, repeated, disordered } = tally(schedule, new Set(held), arrivals)
  const percent = (used = Number.NaN) => `${((100 * used) / seconds).toFixed(0)}%`
  return [
    (deliveries / seconds).toFixed(0),
    ...percentiles(ms, 0.5, 0.99, 1).map((one) => one.toFixed(1)),
    ...[expected, missing, repeated, disordered].map(String),
    percent(allUsed),
    percent(loopUsed),
    (((allUsed ?? Number.NaN) * 1000) / deliveries).toFixed(2),
  ]
}
