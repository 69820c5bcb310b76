import { type DestinationStream, pino } from 'pino'

/** The log levels of `LOG_LEVEL`. */
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

/**
 * Logs one JSON line an event to stderr. `error` wakes someone, `warn` is wrong but handled, `info` is start, stop and reconnect, `debug` is per
 * record. Addresses, signatures and slots of tracked trades never at info or above (rule I1); secrets are redacted by their field names.
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
