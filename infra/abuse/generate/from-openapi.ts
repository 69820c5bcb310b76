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

function make(
  operation: Operation,
  attack: string,
  what: string,
  text: string,
  expect: AllowedOutcome,
): AbuseCase {
  const { method, path } = operation
  return {
    kind: 'requests',
    group: `${method} ${path} ${attack}`,
    title: `${method} ${path}: ${attack}: ${what.length > 60 ? `${what.slice(0, 60)}...` : what}`,
    act: { via: 'http', pieces: [text] },
    expect,
    limitMs: 10_000,
  }
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
    const values = valuesOf(parameter)
    const target = (value: string) =>
      where === 'path'
        ? path
            .replace(`{${name}}`, value)
            .replace(/\{(\w+)\}/g, (_, other) => PATH_VALUES[other] ?? 'x')
        : `${goodPath}?${name}=${value}`
    const cases = values.map(([value, statuses]) =>
      make(operation, name, value, ask(operation, target(value)), { statuses }),
    )
    if (where === 'path') return cases
    const [first = ''] = values.at(-1) ?? []
    const anonymous = request(`${method} ${target('')}`)
    const refused = { statuses: [400] }
    return [
      ...cases,
      make(operation, name, 'twice', ask(operation, `${target(first)}&${name}=${first}`), refused),
      make(
        operation,
        name,
        '200 times',
        ask(operation, `${target('1')}${`&${name}=1`.repeat(100)}`),
        refused,
      ),
      ...(credential === null
        ? []
        : [
            make(operation, name, 'empty, by a stranger', anonymous, {
              statuses: [401],
              codes: ['unauthorized'],
            }),
          ]),
    ]
  })
}

function queryCases(operation: Operation): AbuseCase[] {
  const { goodPath, good } = operation
  if (isLogout(operation)) return []
  return [
    ...UNKNOWN_QUERIES.map((query) =>
      make(operation, 'unknown query', query, ask(operation, `${goodPath}?${query}`), {
        statuses: good,
      }),
    ),
    ...LONG_QUERIES.map((query) =>
      make(operation, 'long query', query, ask(operation, `${goodPath}?${query}`), {
        statuses: [400],
      }),
    ),
  ]
}

function credentialCases(operation: Operation): AbuseCase[] {
  const { goodPath, credential, method } = operation
  if (credential === null) return []
  const other = credential.includes('key') ? 'Bearer {{token}}' : 'Bearer {{key}}'
  const refused = { statuses: [401], codes: ['unauthorized'] }
  const twice = ask(operation, goodPath, ['Authorization: Bearer x'])
  const name = credential.slice('Bearer '.length)
  return [
    ...[...BAD_CREDENTIALS, other].map((bad) =>
      make(
        operation,
        'credential',
        String(bad).slice(0, 40),
        request(`${method} ${goodPath}`, { credential: bad }),
        {
          ...refused,
          statuses: bad?.includes('\xff') ? [400, 401] : [401],
          codes: ['unauthorized', 'bad_request'],
        },
      ),
    ),
    make(
      operation,
      'credential',
      'in the query',
      request(`${method} ${goodPath}?api_key=${name}&access_token=${name}`),
      refused,
    ),
    make(
      operation,
      'credential',
      'in other fields',
      request(`${method} ${goodPath}`, { fields: [`Cookie: token=${name}`, `X-Api-Key: ${name}`] }),
      refused,
    ),
    make(
      operation,
      'credential',
      'a bad one before it',
      request(`${method} ${goodPath}`, {
        credential: 'Bearer x',
        fields: [`Authorization: ${credential}`],
      }),
      {
        statuses: [400, 401],
      },
    ),
    ...(isLogout(operation)
      ? []
      : [
          make(operation, 'credential', 'a bad one after it', twice, {
            statuses: [400, 401, ...operation.good],
          }),
        ]),
  ]
}

function fieldCases(operation: Operation): AbuseCase[] {
  const { goodPath, good } = operation
  return [
    ...(isLogout(operation)
      ? []
      : HARMLESS_FIELDS.filter(
          (fields) => !operation.hasBody || !fields.includes('Content-Length: 0'),
        ).map((fields) =>
          make(operation, 'fields', fields[0] ?? '', ask(operation, goodPath, fields), {
            statuses: good,
          }),
        )),
    ...BAD_HEADS.filter(
      ([[first = '']]) => !operation.hasBody || !/^(Content-Length|Transfer-Encoding)/.test(first),
    ).map(([fields, statuses]) =>
      make(operation, 'bad head', fields[0] ?? '', ask(operation, goodPath, fields), { statuses }),
    ),
    make(
      operation,
      'bad head',
      'unknown expectation',
      ask(operation, goodPath, ['Expect: 200-maybe']),
      { statuses: [400, 401, ...good] },
    ),
  ]
}

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'HEAD',
  'TRACE',
  'PROPFIND',
  'QUERY',
]

function methodCases(operation: Operation, taken: readonly string[]): AbuseCase[] {
  const { goodPath, credential } = operation
  return [
    ...METHODS.filter((method) => !taken.includes(method.toLowerCase())).map((method) =>
      make(operation, 'method', method, request(`${method} ${goodPath}`, { credential }), {
        statuses: [405],
        codes: ['method_not_allowed'],
      }),
    ),
    ...['get', 'G\0T', 'FOO', 'GET\tX', `${'A'.repeat(5000)}`].map((method) =>
      make(
        operation,
        'method',
        method.slice(0, 10),
        request(`${method} ${goodPath}`, { credential }),
        { statuses: [400, 431] },
      ),
    ),
  ]
}

function bodyCases(operation: Operation): AbuseCase[] {
  const { hasBody, method, goodPath, path, good } = operation
  const credential = isLogout(operation) ? null : operation.credential
  const attacks = hasBody ? bodyAttacks(path, good) : needlessBodies(good)
  return attacks.map(({ attack, what, fields, body, statuses }) =>
    make(operation, attack, what, request(`${method} ${goodPath}`, { credential, fields, body }), {
      statuses: isLogout(operation) ? [401, ...statuses] : statuses,
    }),
  )
}
