import { ServiceError } from '../domain/service-error.ts'

/**
 * What a failed call to ClickHouse means for the caller: `unavailable`, retriable, when the server cannot be reached or cannot serve now;
 * `internal` for everything that it refuses, which trying again does not help. The message of a refusal can quote data, so it is only in
 * `cause`.
 */
export function storeError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const code = clickhouseCode(error)
  if (code === null || BUSY_CODES.has(code))
    return new ServiceError(
      'unavailable',
      code === null ? 'the store does not answer' : `the store cannot serve now (code ${code})`,
      { retriable: true, cause: error, context: { code } },
    )
  return new ServiceError('internal', `the store refused a statement (code ${code})`, {
    cause: error,
    context: { code },
  })
}

/** The code of ClickHouse behind an error; null for a failure to reach it. Source: ErrorCodes.cpp of ClickHouse. */
export function clickhouseCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null
  if ('type' in error && 'code' in error && /^[0-9]+$/.test(String(error.code)))
    return Number(error.code)
  const text = /^(?:Error: )?Code: ([0-9]+)\./.exec(error.message)
  if (text) return Number(text[1])
  // The client's own refusals (a bad parameter) are bugs; what a socket says is not.
  return error instanceof TypeError || error instanceof SyntaxError ? 0 : null
}

/** Refusals that pass: timeouts, memory, too many parts or queries, read-only or full disks, a server that stops or starts. */
const BUSY_CODES = new Set([
  3, 74, 75, 76, 159, 164, 198, 202, 203, 209, 210, 216, 236, 241, 242, 243, 252, 279, 285, 319,
  394, 425, 439, 473, 519, 574, 594, 640, 649, 692, 698, 745, 999,
])
