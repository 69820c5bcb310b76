import { z } from 'zod'
import { type ReadyCheck, readReadiness } from '../../pipeline/runtime/health-server.ts'
import { NONE } from './parameters.ts'
import { resource } from './resource.ts'

/** `GET /healthz`: the process runs (decisions D7). */
export function healthz() {
  return resource({
    path: '/healthz',
    price: null,
    isUnlimited: true,
    docs: {
      tag: 'Service',
      summary: 'Whether the process runs',
      description: 'For load balancers and supervisors. Free, and not counted by the rate limits.',
      example: { status: 'ok' },
    },
    params: NONE,
    query: NONE,
    answer: z.strictObject({ status: z.literal('ok') }),
    async handle() {
      return { body: { status: 'ok' as const } }
    },
  })
}

/**
 * `GET /readyz`: 200 when every role of this process is ready, else 503 with the names of what is not (decisions J4). The reasons are for operators alone,
 * on METRICS_PORT.
 */
export function readyz(checks: () => Readonly<Record<string, ReadyCheck>>) {
  return resource({
    path: '/readyz',
    price: null,
    isUnlimited: true,
    docs: {
      tag: 'Service',
      summary: 'Whether the process is ready',
      description:
        '200 when every role of the process is ready, else 503 with the conditions that failed. Free, and not counted by the rate limits.',
      statuses: [200, 503],
      example: { ready: true, checks: { store: 'ok', log: 'ok', meter: 'ok', marker: 'ok' } },
    },
    params: NONE,
    query: NONE,
    answer: z.strictObject({
      ready: z.boolean().meta({ description: 'Every check is `ok`' }),
      checks: z.record(z.string(), z.enum(['ok', 'failed'])).meta({
        description:
          'By name what this process needs for its roles, such as `store` (ClickHouse or chDB), `schema` (its tables), `log` (Kafka or memory), `meter` (Redis or memory) and `marker` (a first slot is stored and sent)',
      }),
    }),
    async handle() {
      const { ready, checks: states } = await readReadiness(checks())
      const told = Object.entries(states).map(
        ([name, state]) => [name, state === 'ok' ? 'ok' : 'failed'] as const,
      )
      return { status: ready ? 200 : 503, body: { ready, checks: Object.fromEntries(told) } }
    },
  })
}
