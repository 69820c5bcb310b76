import type { AbuseCase } from './case.ts'
import type { HttpAnswer } from './read-answers.ts'
import type { CaseOutcome } from './wire.ts'

/** Strings that would reveal internals of the service. */
const INTERNAL =
  /clickhouse|chdb|kafka|redis|DB::|Code: \d|\bSELECT\b|node:|node_modules|\/dist\/|\.[jt]s\b|\n\s+at |ECONN|EPIPE|TypeError|SyntaxError|undefined is/i

/**
 * Faults of a case, in words; empty when it went as the contract says. No response may contain one
 * of `secrets`.
 */
export function judge(
  { act, expect, limitMs }: Pick<AbuseCase, 'act' | 'expect' | 'limitMs'>,
  seen: CaseOutcome,
  secrets: readonly string[],
): string[] {
  const faults = seen.answers.flatMap((answer) => judgeAnswer(answer, isHead(act), secrets))
  if (seen.isTimedOut) faults.push(`no end within ${limitMs / 1000} s`)
  if (INTERNAL.test(seen.text)) faults.push('the feed told something internal')
  if (secrets.some((secret) => seen.text.includes(secret))) faults.push('the feed told a secret')
  return [
    ...faults,
    ...(act.via === 'http' ? judgeStatuses(expect, seen) : judgeTalk(expect, seen)),
  ]
}

function isHead(act: AbuseCase['act']): boolean {
  return act.via === 'http' && String(act.pieces[0]).startsWith('HEAD ')
}

function judgeStatuses(
  { statuses = [], codes, answers }: AbuseCase['expect'],
  seen: CaseOutcome,
): string[] {
  const faults: string[] = []
  const [first] = seen.answers
  if (first === undefined && !statuses.includes(0) && !seen.isTimedOut) faults.push('no answer')
  for (const { status, body } of seen.answers) {
    if (!statuses.includes(status)) faults.push(`${status} instead of ${statuses.join(' or ')}`)
    const code = /"code":"(\w+)"/.exec(body)?.[1]
    if (codes !== undefined && code !== undefined && !codes.includes(code))
      faults.push(`code ${code} instead of ${codes.join(' or ')}`)
  }
  if (answers !== undefined && seen.answers.length !== answers && first !== undefined)
    faults.push(`${seen.answers.length} answers instead of ${answers}`)
  return faults
}

function judgeTalk({ codes, closes, isCut }: AbuseCase['expect'], seen: CaseOutcome): string[] {
  const status = seen.answers[0]?.status
  if (status !== 101) return [`the handshake was answered ${status ?? 'not at all'}`]
  if (isCut === true) return []
  const faults: string[] = []
  const errors = seen.told.filter((told) => ERRORS.has(told))
  const allowed = codes ?? []
  if (allowed.length > 0 && !errors.some((code) => allowed.includes(code)))
    faults.push(`told ${errors[0] ?? 'no error'} instead of ${allowed.join(' or ')}`)
  if (allowed.length === 0 && closes === undefined && errors.length > 0)
    faults.push(`told ${errors[0]} of what is allowed`)
  if (closes === undefined && !seen.isAlive)
    faults.push(`ended with ${seen.closeCode ?? 'no close code'} instead of going on`)
  if (closes !== undefined && !closes.includes(seen.closeCode ?? 0))
    faults.push(`closed with ${seen.closeCode ?? 'no code'} instead of ${closes.join(' or ')}`)
  return faults
}

/** Codes of `error` messages (rule F2). */
const ERRORS = new Set([
  ...['invalid_message', 'invalid_channel', 'invalid_parameter', 'invalid_cursor'],
  ...['wallet_not_found', 'pro_required', 'rate_limited'],
])

/** Checks of every response (rules D1, D5). */
export function judgeAnswer(
  { status, fields, body }: HttpAnswer,
  isHead: boolean,
  secrets: readonly string[],
): string[] {
  const faults: string[] = []
  const id = fields.get('x-request-id')
  if (status >= 500) faults.push(`${status}`)
  if (id === undefined && status !== 101) faults.push(`${status} without X-Request-Id`)
  if (secrets.some((secret) => body.includes(secret) || [...fields.values()].includes(secret)))
    faults.push('a secret in the answer')
  if (status < 400) return faults
  if (INTERNAL.test(body)) faults.push('something internal in a refusal')
  if ((fields.get('x-credits-cost') ?? '0') !== '0') faults.push('a refusal that costs credits')
  if (status === 401 && !fields.has('www-authenticate')) faults.push('401 without WWW-Authenticate')
  if (status === 405 && !fields.has('allow')) faults.push('405 without Allow')
  if (isHead) return body === '' ? faults : [...faults, 'HEAD answered with a body']
  return [...faults, ...judgeProblem(status, fields.get('content-type'), body, id)]
}

function judgeProblem(
  status: number,
  type: string | undefined,
  body: string,
  id: string | undefined,
): string[] {
  if (!type?.startsWith('application/problem+json'))
    return [`${status} that is no problem document`]
  let problem: Record<string, unknown>
  try {
    problem = JSON.parse(body) as Record<string, unknown>
  } catch {
    return [`${status} with a document that is no JSON`]
  }
  const isWhole =
    problem.status === status &&
    problem.request_id === id &&
    typeof problem.code === 'string' &&
    problem.detail === problem.code
  return isWhole ? [] : [`${status} with a problem document that does not fit`]
}
