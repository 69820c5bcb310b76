import { type AbuseCase, type AllowedOutcome, request } from '../case.ts'
import { bodyAttacks, goodBody, needlessBodies } from './bodies.ts'
import {
  ALIASES,
  BAD_CREDENTIALS,
  BAD_HEADS,
  CHOICES,
  CURSORS,
  HARMLESS_FIELDS,
  integerValues,
  LONG_QUERIES,
  PATH_ALIASES,
  PATH_MINTS,
  UNKNOWN_QUERIES,
  type UrlValue,
} from './hostile-values.ts'

/** The parts of `/openapi.json` that the generator reads. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
}

interface OpenApiOperation {
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly OpenApiParameter[]
  readonly requestBody?: object
}

interface OpenApiParameter {
  readonly name: string
  readonly in: string
  readonly schema: {
    readonly type?: string
    readonly minimum?: number
    readonly maximum?: number
    readonly enum?: readonly string[]
    readonly format?: string
  }
}

/** An operation, and valid requests for it. */
interface Operation {
  readonly method: string
  readonly path: string
  /** The path with a value for every parameter. */
  readonly goodPath: string
  readonly credential: string | null
  readonly parameters: readonly OpenApiParameter[]
  readonly hasBody: boolean
  /** Statuses of a valid request. */
  readonly good: readonly number[]
}

/**
 * Every case from the documents of the REST API: hostile values, bodies, credentials, fields and
 * methods of each operation.
 */
export function casesFromOpenApi(document: OpenApi): AbuseCase[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => {
      const operation = read(method.toUpperCase(), path, described)
      return [
        ...parameterCases(operation),
        ...queryCases(operation),
        ...credentialCases(operation),
        ...fieldCases(operation),
        ...methodCases(operation, Object.keys(methods)),
        ...bodyCases(operation),
      ]
    }),
  )
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  apiKey: 'Bearer {{key}}',
  dashboardToken: 'Bearer {{token}}',
}

const PATH_VALUES: Readonly<Record<string, string>> = { alias: 'W1', mint: '{{mint}}' }

function read(method: string, path: string, described: OpenApiOperation): Operation {
  const scheme = Object.keys(described.security[0] ?? {})[0] ?? ''
  return {
    method,
    path,
    goodPath: path.replace(/\{(\w+)\}/g, (_, name: string) => PATH_VALUES[name] ?? 'x'),
    credential: CREDENTIALS[scheme] ?? null,
    parameters: described.parameters ?? [],
    hasBody: described.requestBody !== undefined,
    good: GOOD_STATUSES[path] ?? [200, 304],
  }
}

/** Operations for which the valid request made here gets no 200. */
const GOOD_STATUSES: Readonly<Record<string, readonly number[]>> = {
  '/auth/login': [401],
  '/auth/logout': [204],
  '/auth/logout-everywhere': [204],
  '/me/watchlists/trending': [403],
  '/me/signals/filter': [403],
}

/** A successful logout would end the token of all other cases. */
const isLogout = ({ path }: Operation) => path.startsWith('/auth/logout')

function ask(operation: Operation, target: string, fields: readonly string[] = []): string {
  const { method, hasBody, path } = operation
  const credential = isLogout(operation) ? null : operation.credential
  const body = hasBody ? goodBody(path, [target, ...fields].join()) : ''
  const length = hasBody ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : []
  return request(`${method} ${target}`, { credential, fields: [...length, ...fields], body })
}

type Make = (what: string, text: string, expect: AllowedOutcome) => AbuseCase

/** Makes cases of one attack on an operation. */
function attackOn({ method, path }: Operation, attack: string): Make {
  return (what, text, expect) => ({
    kind: 'requests',
    group: `${method} ${path} ${attack}`,
    title: `${method} ${path}: ${attack}: ${what.length > 60 ? `${what.slice(0, 60)}...` : what}`,
    act: { via: 'http', pieces: [text] },
    expect,
    limitMs: 10_000,
  })
}

function valuesOf({ in: where, name, schema }: OpenApiParameter): readonly UrlValue[] {
  if (where === 'path') return name === 'alias' ? PATH_ALIASES : PATH_MINTS
  if (schema.format === 'cursor') return CURSORS
  if (schema.enum !== undefined) return CHOICES
  if (name === 'alias') return ALIASES
  return integerValues(schema.minimum ?? 0, schema.maximum ?? 2 ** 31)
}

function parameterCases(operation: Operation): AbuseCase[] {
  const { goodPath, path, parameters, credential, method } = operation
  return parameters.flatMap((parameter) => {
    const { name, in: where } = parameter
    if (where === 'header') return []
    const make = attackOn(operation, name)
    const values = valuesOf(parameter)
    const target = (value: string) =>
      where === 'path'
        ? path
            .replace(`{${name}}`, value)
            .replace(/\{(\w+)\}/g, (_, other) => PATH_VALUES[other] ?? 'x')
        : `${goodPath}?${name}=${value}`
    const cases = values.map(([value, statuses]) =>
      make(value, ask(operation, target(value)), { statuses }),
    )
    if (where === 'path') return cases
    const [first = ''] = values.at(-1) ?? []
    const anonymous = request(`${method} ${target('')}`)
    const many = `${target('1')}${`&${name}=1`.repeat(100)}`
    const stranger = make('empty, by a stranger', anonymous, UNAUTHORIZED)
    return [
      ...cases,
      make('twice', ask(operation, `${target(first)}&${name}=${first}`), { statuses: [400] }),
      make('200 times', ask(operation, many), { statuses: [400] }),
      ...(credential === null ? [] : [stranger]),
    ]
  })
}

const UNAUTHORIZED: AllowedOutcome = { statuses: [401], codes: ['unauthorized'] }

function queryCases(operation: Operation): AbuseCase[] {
  const { goodPath, good } = operation
  if (isLogout(operation)) return []
  const of = (attack: string, queries: readonly string[], statuses: readonly number[]) =>
    queries.map((query) =>
      attackOn(operation, attack)(query, ask(operation, `${goodPath}?${query}`), { statuses }),
    )
  return [...of('unknown query', UNKNOWN_QUERIES, good), ...of('long query', LONG_QUERIES, [400])]
}

function credentialCases(operation: Operation): AbuseCase[] {
  const { goodPath, credential, method, good } = operation
  if (credential === null) return []
  const make = attackOn(operation, 'credential')
  const line = `${method} ${goodPath}`
  const other = credential.includes('key') ? 'Bearer {{token}}' : 'Bearer {{key}}'
  const name = credential.slice('Bearer '.length)
  const fields = [`Cookie: token=${name}`, `X-Api-Key: ${name}`]
  const before = { credential: 'Bearer x', fields: [`Authorization: ${credential}`] }
  const twice = ask(operation, goodPath, ['Authorization: Bearer x'])
  return [
    ...[...BAD_CREDENTIALS, other].map((bad) =>
      make(String(bad).slice(0, 40), request(line, { credential: bad }), {
        statuses: bad?.includes('\xff') ? [400, 401] : [401],
        codes: ['unauthorized', 'bad_request'],
      }),
    ),
    make('in the query', request(`${line}?api_key=${name}&access_token=${name}`), UNAUTHORIZED),
    make('in other fields', request(line, { fields }), UNAUTHORIZED),
    make('a bad one before it', request(line, before), { statuses: [400, 401] }),
    ...(isLogout(operation)
      ? []
      : [make('a bad one after it', twice, { statuses: [400, 401, ...good] })]),
  ]
}

function fieldCases(operation: Operation): AbuseCase[] {
  const { goodPath, good, hasBody } = operation
  const harmless = attackOn(operation, 'fields')
  const bad = attackOn(operation, 'bad head')
  const isOfBody = (field = '') => hasBody && /^(Content-Length|Transfer-Encoding)/.test(field)
  return [
    ...HARMLESS_FIELDS.filter(
      (fields) => !isLogout(operation) && !(hasBody && fields.includes('Content-Length: 0')),
    ).map((fields) =>
      harmless(fields[0] ?? '', ask(operation, goodPath, fields), { statuses: good }),
    ),
    ...BAD_HEADS.filter(([fields]) => !isOfBody(fields[0])).map(([fields, statuses]) =>
      bad(fields[0] ?? '', ask(operation, goodPath, fields), { statuses }),
    ),
    bad('unknown expectation', ask(operation, goodPath, ['Expect: 200-maybe']), {
      statuses: [400, 401, ...good],
    }),
  ]
}

const METHODS = 'GET POST PUT DELETE PATCH OPTIONS HEAD TRACE PROPFIND QUERY'.split(' ')
const NO_METHODS = ['get', 'G\0T', 'FOO', 'GET\tX', `${'A'.repeat(5000)}`]

function methodCases(operation: Operation, taken: readonly string[]): AbuseCase[] {
  const { goodPath, credential } = operation
  const make = attackOn(operation, 'method')
  const text = (method: string) => request(`${method} ${goodPath}`, { credential })
  const refused = { statuses: [405], codes: ['method_not_allowed'] }
  return [
    ...METHODS.filter((method) => !taken.includes(method.toLowerCase())).map((method) =>
      make(method, text(method), refused),
    ),
    ...NO_METHODS.map((method) =>
      make(method.slice(0, 10), text(method), { statuses: [400, 431] }),
    ),
  ]
}

function bodyCases(operation: Operation): AbuseCase[] {
  const { hasBody, method, goodPath, path, good } = operation
  const credential = isLogout(operation) ? null : operation.credential
  const attacks = hasBody ? bodyAttacks(path, good) : needlessBodies(good)
  return attacks.map(({ attack, what, fields, body, statuses }) => {
    const text = request(`${method} ${goodPath}`, { credential, fields, body })
    const allowed = isLogout(operation) ? [401, ...statuses] : statuses
    return attackOn(operation, attack)(what, text, { statuses: allowed })
  })
}
