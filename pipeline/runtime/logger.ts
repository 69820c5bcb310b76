import { type DestinationStream, pino } from 'pino'

/** The log levels of `LOG_LEVEL`. */
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

/**
 * Makes a logger that writes one JSON line per event to stderr. `error` wakes someone, `warn` is
 * wrong but handled, `info` is start, stop and reconnect, `debug` is per record. Do not log
 * addresses, signatures or slots of tracked trades at `info` or above (rule I1). Fields with the
 * names of secrets are redacted, in the line and one level below.
 */
export function createLogger(
  level: LogLevel,
  destination: DestinationStream = pino.destination({ dest: 2, sync: true }),
) {
  return pino(
    {
      level,
      base: null,
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
        censor: '[secret]',
      },
    },
    destination,
  )
}

/** The logger of a process. */
export type Logger = ReturnType<typeof createLogger>

const SECRET_FIELDS = [
  'authorization',
  'apiKey',
  'api_key',
  'password',
  'secret',
  'token',
  'signature',
  'nonce',
  'xToken',
  '["x-token"]',
  'url',
]
