import { ServiceError } from '../domain/service-error.ts'

/**
 * Classifies a failed call to ClickHouse: `unavailable`, retriable, when the server cannot be
 * reached or is overloaded; `internal` for a statement that it rejects, where a retry does not
 * help. The message of a rejection may quote data, so it is only in `cause`.
 */
export function storeError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const code = clickhouseCode(error)
  if (code === null || BUSY_CODES.has(code))
    return new ServiceError(
      'unavailable',
      code === null ? 'the store does not answer' : `the store cannot serve now (code ${code})`,
      { cause: error, context: { code } },
    )
  return new ServiceError('internal', `the store refused a statement (code ${code})`, {
    cause: error,
    context: { code },
  })
}

/**
 * Returns ClickHouse's code of an error; null when the server could not be reached. Source:
 * ErrorCodes.cpp of ClickHouse.
 */
export function clickhouseCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null
  if ('type' in error && 'code' in error && /^[0-9]+$/.test(String(error.code)))
    return Number(error.code)
  const text = /^(?:Error: )?Code: ([0-9]+)\./.exec(error.message)
  if (text) return Number(text[1])
  // The client rejects a bad parameter with these types, which is a bug; errors of sockets are not.
  return error instanceof TypeError || error instanceof SyntaxError ? 0 : null
}

/** Whether the store refused a statement because its user has no right to it. */
export function isAccessDenied(error: unknown): boolean {
  return error instanceof ServiceError && error.context?.code === ACCESS_DENIED
}

/** ClickHouse's code. Source: ErrorCodes.cpp. */
const ACCESS_DENIED = 497

/**
 * Codes of temporary failures: timeouts, memory, too many parts or queries, disks that are full or
 * read-only, files that end too early (33, seen on a full disk), a server that stops or starts, a
 * replica set without Keeper or quorum.
 */
const BUSY_CODES = new Set([
  3, 33, 74, 75, 76, 159, 164, 198, 202, 203, 209, 210, 216, 225, 236, 241, 242, 243, 252, 254, 279,
  285, 286, 289, 319, 394, 425, 439, 473, 519, 574, 594, 640, 649, 692, 698, 745, 999,
])
