import { ServiceError } from '../domain/service-error.ts'

/**
 * Checks one condition of readiness. Resolves if it holds, else rejects with a message for an
 * operator.
 */
export type ReadyCheck = () => Promise<void>

/** Whether the process is ready. `checks` has `ok`, or the reason why not, per condition. */
export interface ReadinessReport {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, string>>
}

/** The conditions under which a process is ready. */
export interface Readiness {
  /** Adds conditions by name; a condition replaces the earlier one of the same name. */
  add(checks: Readonly<Record<string, ReadyCheck>>): void
  /** Checks every condition. Concurrent calls share one report, and so do calls soon after it. */
  read(): Promise<ReadinessReport>
}

/**
 * Makes the readiness of one process. A report is shared until it is `shareMs` old, so the cost of
 * probes does not grow with their number.
 */
export function createReadiness(shareMs = 1000): Readiness {
  const conditions: Record<string, ReadyCheck> = {}
  let report: Promise<ReadinessReport> | null = null
  let freshUntil = 0
  return {
    add(checks) {
      Object.assign(conditions, checks)
    },
    read() {
      if (report === null || performance.now() >= freshUntil) {
        freshUntil = Number.POSITIVE_INFINITY
        report = checkAll(conditions).finally(() => {
          freshUntil = performance.now() + shareMs
        })
      }
      return report
    },
  }
}

const TIMEOUT_MS = 2000

async function checkAll(checks: Readonly<Record<string, ReadyCheck>>): Promise<ReadinessReport> {
  const states = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const timeout = AbortSignal.timeout(TIMEOUT_MS)
      const late = new Promise<string>((resolve) => {
        timeout.addEventListener('abort', () => resolve(`no answer in ${TIMEOUT_MS} ms`))
      })
      const checked = check().then(
        () => 'ok',
        (error: unknown) => (error instanceof ServiceError ? error.message : 'failed'),
      )
      return [name, await Promise.race([checked, late])] as const
    }),
  )
  return {
    ready: states.every(([, state]) => state === 'ok'),
    checks: Object.fromEntries(states),
  }
}
