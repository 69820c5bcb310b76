import { z } from 'zod'
import type { Readiness } from '../../pipeline/runtime/readiness.ts'
import { resource } from './resource.ts'

/** `GET /healthz`: the process runs (rule D7). */
export function healthz() {
  return resource({
    path: '/healthz',
    price: null,
    isUnlimited: true,
    answersHead: true,
    docs: {
      tag: 'Service',
      summary: 'Whether the process runs',
      description: 'For load balancers and supervisors. Free, and not counted by the rate limits.',
      example: { status: 'ok' },
    },
    answer: z.strictObject({ status: z.literal('ok') }),
    async handle() {
      return { body: { status: 'ok' as const } }
    },
  })
}

/**
 * `GET /readyz`: 200 if every role of this process is ready, else 503 (rule J4). The port
 * `METRICS_PORT` tells which condition fails, and why.
 */
export function readyz(readiness: Pick<Readiness, 'read'>) {
  return resource({
    path: '/readyz',
    price: null,
    isUnlimited: true,
    answersHead: true,
    docs: {
      tag: 'Service',
      summary: 'Whether the process is ready',
      description:
        '200 if every role of the process is ready, else 503. Checked at most once a second; requests in between get the same answer. Free, and not counted by the rate limits.',
      statuses: [200, 503],
      example: { ready: true },
    },
    answer: z.strictObject({
      ready: z.boolean().describe('Whether every role of the process is ready'),
    }),
    async handle() {
      const { ready } = await readiness.read()
      return { status: ready ? 200 : 503, body: { ready } }
    },
  })
}
