import { ServiceError } from '../domain/service-error.ts'

/**
 * One condition of readiness: resolves when it holds, rejects with a message fit for an operator
 * when not.
 */
export type ReadyCheck = () => Promise<void>

/** Whether the process is ready, and for each condition `ok` or why not. */
export interface ReadinessReport {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, string>>
}

/** The conditions under which a process is ready, and their state. */
export interface Readiness {
  /** Adds conditions by their names. */
  add(checks: Readonly<Record<string, ReadyCheck>>): void
  /**
   * Checks every condition. All callers share one report while it is being made and until it is
   * `shareMs` old.
   */
  read(): Promise<ReadinessReport>
}

/**
 * Conditions of one process; whatever asks whether it is ready shares them, so that probes cost the
 * same however many come.
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
