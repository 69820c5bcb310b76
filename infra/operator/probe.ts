import { z } from 'zod'
import { FeedEnded, Refused } from '../../api/client/client.ts'
import { parseAlias } from '../../pipeline/domain/alias.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { envString, envUrl, readEnv } from '../../pipeline/runtime/env.ts'
import { startHealthServer } from '../../pipeline/runtime/health-server.ts'
import { readSecretFiles } from '../../pipeline/runtime/secret-files.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { optionCommand } from './command.ts'
import { type ProbeSummary, runProbe } from './probe-run.ts'
import { createProbeMetrics } from './telemetry.ts'

/** Where the probe finds the service. The key never is an argument, which other users can see. */
const probeEnv = {
  PROBE_URL: envUrl(['http', 'https'], 'https://api.example.com'),
  PROBE_API_KEY: envString(),
}

const numberOption = (max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,7}$/, 'expected a number')
    .transform(Number)
    .refine((number) => number <= max, `expected at most ${max}`)

const walletsOption = z.string().transform((text, context) => {
  const wallets = text.split(',')
  if (wallets.every((alias) => parseAlias(alias) !== null)) return wallets
  context.addIssue({ code: 'custom', message: 'expected aliases, for example W1,W2' })
  return z.NEVER
})

/**
 * `probe`: follows the feed of a service as a customer does, until it is stopped. Exits with 1 if
 * it found a fault.
 */
export const probe = optionCommand({
  name: 'probe',
  summary:
    'Follows the feed as a customer does, measures its lag and compares it with GET /trades. Reads PROBE_URL and PROBE_API_KEY.',
  usage: '[--for <seconds>] [--lag <seconds>] [--wallets <W1,W2>] [--port <metrics port>]',
  options: {
    for: numberOption(9_999_999).optional(),
    lag: numberOption(86_400).default(30),
    wallets: walletsOption.optional(),
    port: numberOption(65_535).optional(),
  },
  isStandalone: true,
  async run({ for: seconds, lag, wallets = null, port }, { stop }) {
    const { PROBE_URL, PROBE_API_KEY } = readEnv(probeEnv, readSecretFiles(process.env))
    const registry = createRegistry()
    const server = port === undefined ? null : await serveMetrics(port, registry)
    const { signal, clear } = stopAfter(stop, seconds)
    try {
      const document = await runProbe({
        url: PROBE_URL.href,
        apiKey: PROBE_API_KEY,
        wallets,
        maxLagSeconds: lag,
        metrics: createProbeMetrics(registry),
        stop: signal,
        onProgress,
      })
      return { document, failed: Object.keys(document.faults).length > 0 }
    } catch (error) {
      if (error instanceof Refused || error instanceof FeedEnded)
        throw new ServiceError('unavailable', `the service refuses the probe: ${error.code}`)
      throw error
    } finally {
      clear()
      await server?.close()
    }
  },
})

function onProgress(probe: ProbeSummary): void {
  process.stderr.write(`${JSON.stringify({ probe })}\n`)
}

function serveMetrics(port: number, registry: ReturnType<typeof createRegistry>) {
  const readiness = { read: async () => ({ ready: true, checks: {} }) }
  return startHealthServer({ host: process.env.HOST || '127.0.0.1', port, registry, readiness })
}

/** A signal that aborts with `stop`, or after `seconds`. */
function stopAfter(stop: AbortSignal, seconds: number | undefined) {
  const ending = new AbortController()
  const end = () => ending.abort()
  stop.addEventListener('abort', end, { once: true })
  const timer = seconds === undefined ? undefined : setTimeout(end, seconds * 1000)
  return { signal: ending.signal, clear: () => clearTimeout(timer) }
}
