import { ServiceError } from '../domain/service-error.ts'

/**
 * Checks one condition of readiness. Resolves if it holds, with a word for the operator if there is
 * more to say than `ok`. Else rejects with a message for an operator.
 */
export type ReadyCheck = () => Promise<void> | Promise<'standby'>

/**
 * Whether the process is ready. `checks` has `ok`, `standby`, or the reason why not, per condition.
 */
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
      const not = (state: string) => ({ name, state, holds: false })
      const late = new Promise<ReturnType<typeof not>>((resolve) => {
        timeout.addEventListener('abort', () => resolve(not(`no answer in ${TIMEOUT_MS} ms`)))
      })
      const checked = Promise.resolve<unknown>(check()).then(
        (state) => ({ name, state: state === undefined ? 'ok' : String(state), holds: true }),
        (error: unknown) => not(error instanceof ServiceError ? error.message : 'failed'),
      )
      return Promise.race([checked, late])
    }),
  )
  return {
    ready: states.every(({ holds }) => holds),
    checks: Object.fromEntries(states.map(({ name, state }) => [name, state])),
  }
}
