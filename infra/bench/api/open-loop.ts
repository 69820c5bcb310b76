import type { ServiceProcess } from '../../whole-service/service-process.ts'
import { cpuSeconds, mainThreadCpuSeconds } from '../kit/cpu.ts'
import { print, printHead, printRow } from '../kit/figures.ts'
import type { Mode } from '../kit/modes.ts'
import type { ArrivalOptions } from './arrivals.ts'
import { type GeneratorResult, startGenerator } from './start-generator.ts'

/** Enough that an overloaded service has more requests ready than it accepts in a turn. */
const CONNECTIONS = 2000
const CUSTOMERS = 1000
const WARM_UP_SECONDS = 3

/** Name, rate as a part of the capacity, and number of customers who heed `Retry-After`. */
const RUNS = [
  ['half the capacity', 0.5, 0],
  ['the capacity', 1, 0],
  ['twice the capacity', 2, 0],
  ['the same, clients heed Retry-After', 2, CUSTOMERS],
] as const

/**
 * Requests at constant rates around `capacity`, the answers a second of a closed loop. The table
 * has CPU in percent of a core, so that it shows whether service or generator gives way.
 */
export async function measureOpenLoop(
  service: {
    readonly mode: Mode
    readonly url: string
    readonly key: string
    readonly folder: string
    readonly process: ServiceProcess
  },
  options: {
    readonly paths: readonly string[]
    readonly seconds: number
    readonly capacity: number
  },
): Promise<void> {
  const { mode, url, key, folder } = service
  const { paths, seconds, capacity } = options
  print('')
  printHead(
    'constant rate',
    'offered/s',
    'answered 200/s',
    'answered 503/s',
    'held back/s',
    'failed/s',
    'p50 ms of 200',
    'p99 ms of 200',
    'CPU of the service',
    'of its event loop',
    'of the generator',
  )
  const goodputs: number[] = []
  for (const [name, part, heedingCustomers] of RUNS) {
    const perSecond = Math.round(capacity * part)
    const run = await generate(service.process, folder, {
      url,
      key,
      paths,
      seconds,
      perSecond,
      heedingCustomers,
      connections: CONNECTIONS,
      warmUpSeconds: WARM_UP_SECONDS,
    })
    const rates = [run.answered, run.refused, run.heldBack, run.failed]
    goodputs.push(run.answered / seconds)
    printRow(
      `${mode}, ${name}`,
      perSecond,
      ...rates.map((count) => (count / seconds).toFixed(0)),
      ...[run.p50, run.p99].map((ms) => (run.answered > 0 ? ms.toFixed(1) : '')),
      ...run.cpu.map((used) => `${((100 * used) / seconds).toFixed(0)}%`),
    )
  }
  const most = Math.max(...goodputs)
  const [unheeding, heeding] = goodputs.slice(2).map((one) => `${((100 * one) / most).toFixed(0)}%`)
  print(`goodput at twice the capacity: ${unheeding} of the most, ${heeding} if clients wait`)
}

/** Runs a generator. `cpu` has seconds of the service, its event loop and the generator. */
async function generate(
  server: ServiceProcess,
  folder: string,
  options: ArrivalOptions,
): Promise<GeneratorResult & { readonly cpu: readonly number[] }> {
  const generator = startGenerator(folder, options)
  const serverId = server.child.pid ?? 0
  const cpuNow = () => [
    cpuSeconds(serverId),
    mainThreadCpuSeconds(serverId),
    cpuSeconds(generator.child.pid ?? 0),
  ]
  await generator.line('counting')
  const before = cpuNow()
  await generator.line('sent')
  const cpu = cpuNow().map((used, at) => used - (before[at] ?? 0))
  const result = JSON.parse(await generator.line('result'))
  await generator.ended
  return { ...result, cpu }
}
