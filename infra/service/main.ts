import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { readSecretFiles } from '../../pipeline/runtime/secret-files.ts'
import { VERSION } from '../../pipeline/runtime/version.ts'
import { loadConfig, type ServiceConfig } from './config.ts'
import { preflight } from './preflight.ts'
import type { Service } from './service.ts'

/** A stop that takes longer than this ends the process all the same (rule J5). */
const STOP_MS = 9_500
const NOT_STOPPED = new ServiceError('unavailable', `not stopped after ${STOP_MS} ms`)

/** Writes to stderr why the process ends, and exits with 1. A bug is shown with its stack. */
function fail(error: unknown): never {
  const known = error instanceof ServiceError && error.code !== 'internal'
  process.stderr.write(
    `${known ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
  )
  process.exit(1)
}

/** Starts the service. It is loaded after the checks, because loading takes longest. */
async function start(config: ServiceConfig): Promise<Service> {
  await preflight(config)
  const { startService } = await import('./service.ts')
  return startService(config)
}

async function stop(service: Service): Promise<void> {
  await service.stop()
  process.exit(0)
}

if (process.argv.includes('--version')) {
  process.stdout.write(`${VERSION}\n`)
  process.exit(0)
}
try {
  let stopping = false
  const starting = start(loadConfig(readSecretFiles(process.env)))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      // Before the end of the start, which may wait for a server.
      setTimeout(() => fail(NOT_STOPPED), STOP_MS)
      starting.then(stop).catch(fail)
    })
  }
  // A SIGHUP during the start counts: the file may have changed after it was read.
  process.on('SIGHUP', () => {
    starting.then((service) => service.reload()).catch(() => {}) // a failed start is reported below
  })
  const service = await starting
  for (const line of service.lines) process.stdout.write(`${line}\n`)
  service.failed.catch(fail)
} catch (error) {
  fail(error)
}
