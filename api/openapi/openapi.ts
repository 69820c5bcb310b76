import type { z } from 'zod'
import { VERSION } from '../../pipeline/runtime/version.ts'
import { PROBLEMS, type ProblemCode } from '../errors.ts'
import type { Resource } from '../resources/resource.ts'
import { ABOUT } from './about.ts'
import { type CodeSample, codeSamples } from './code-samples.ts'
import { JsonSchemas } from './json-schemas.ts'
import { Problem } from './problem.ts'

/**
 * Returns the OpenAPI 3.1 document of the API, generated from the schemas that validate requests
 * and type responses (rule D7).
 */
export function openApiDocument(resources: readonly Resource[], serverUrl: string): object {
  const schemas = new JsonSchemas('draft-2020-12')
  const problem = schemas.of(Problem)
  const paths: Record<string, Record<string, object>> = {}
  for (const resource of resources) {
    const path = pathOf(resource)
    const method = methodOf(resource).toLowerCase()
    const documented = operation(resource, schemas, serverUrl)
    paths[path] = {
      ...paths[path],
      [method]: documented,
      ...(resource.answersHead && { head: headOf(documented) }),
    }
  }
  return {
    openapi: '3.1.1',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Tracked wallets',
      version: VERSION,
      summary: 'Metrics, holdings and trades of tracked Solana wallets',
      description: ABOUT,
    },
    servers: [{ url: serverUrl }],
    tags: [
      {
        name: 'Tokens',
        description: 'Swaps of tracked wallets on one token, and tokens that several of them hold.',
      },
      { name: 'Wallets', description: 'Tracked wallets, their metrics and holdings.' },
      { name: 'Trades', description: 'Trades of all tracked wallets.' },
      { name: 'Prices', description: 'Prices at which trades are valued.' },
      { name: 'Search', description: 'Wallets and tokens by what they are called.' },
      {
        name: 'Login',
        description: 'A wallet signs a message and gets a token for the dashboard.',
      },
      { name: 'Account', description: 'The account of the wallet, and its API key.' },
      { name: 'Billing', description: 'Credits and Pro, paid in USDT.' },
      { name: 'Pro', description: 'Views for accounts with an active Pro subscription.' },
      { name: 'Service', description: 'State of the service; free.' },
    ],
    paths,
    components: {
      schemas: schemas.components,
      headers: HEADERS,
      responses: Object.fromEntries(
        STATUSES.map(([status, codes]) => [status, refusal(status, codes, problem)]),
      ),
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'tw_...',
          description: 'The API key of an account. Never send it in the URL.',
        },
        dashboardToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The token of a login, for dashboard endpoints only.',
        },
      },
    },
  }
}

/** Returns the path in the notation of the documents, for example `/wallets/{alias}/metrics`. */
export function pathOf({ path }: Pick<Resource, 'path'>): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

/** Returns the method of a resource. */
export function methodOf({
  method,
}: Pick<Resource, 'method'>): 'GET' | 'POST' | 'PATCH' | 'DELETE' {
  return method ?? 'GET'
}

/** Returns the HEAD operation of a path: that of GET, whose responses have no body. */
function headOf(get: ReturnType<typeof operation>): object {
  const { operationId, summary, responses, ...rest } = get
  return {
    operationId: operationId.replace('get', 'head'),
    summary: `${summary}, without a body`,
    ...rest,
    responses: Object.fromEntries(
      Object.keys(responses).map((status) => [
        status,
        { description: 'Status and header fields of GET, without a body.' },
      ]),
    ),
  }
}

function operation(resource: Resource, schemas: JsonSchemas, serverUrl: string) {
  const { price, docs, params, query, requestBody, answer, isUnlimited, needsSession } = resource
  const { tag, summary, description, example, statuses = [200] } = docs
  const needsKey = price !== null
  const isMetered = needsKey && price > 0
  const fields = {
    ...headerReferences(['API-Version', 'X-Request-Id']),
    ...(needsKey && headerReferences(KEY_FIELDS)),
    ...(isMetered && headerReferences(['ETag'])),
    ...(!isUnlimited && headerReferences(['RateLimit', 'RateLimit-Policy'])),
    ...Object.fromEntries(
      Object.entries(docs.headers ?? {}).map(([name, meaning]) => [
        name,
        { description: meaning, required: true, schema: { type: 'string' } },
      ]),
    ),
  }
  const content = { 'application/json': { schema: schemas.of(answer), example } }
  const links = docs.links && { links: docs.links }
  const ok = { description: 'The answer.', headers: fields, content, ...links }
  const done = { description: 'Done; the answer has no body.', headers: fields }
  return {
    operationId: operationId(resource),
    tags: [tag],
    summary,
    description: isMetered ? `${description}\n\n**${priceText(price)}** an answer.` : description,
    ...(needsKey && {
      'x-credits-cost': price,
      'x-codeSamples': samplesOf(resource, schemas, serverUrl),
      security: [{ apiKey: [] }],
    }),
    ...(!needsKey && { security: needsSession ? [{ dashboardToken: [] }] : [] }),
    parameters: [
      ...parametersOf('path', params, schemas),
      ...parametersOf('query', query, schemas),
      ...(isMetered ? [IF_NONE_MATCH] : []),
    ],
    ...(requestBody && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: schemas.of(requestBody, 'input'),
            ...(docs.requestExample !== undefined && { example: docs.requestExample }),
          },
        },
      },
    }),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, status === 204 ? done : ok])),
      ...(isMetered && { 304: { description: NOT_MODIFIED, headers: fields } }),
      ...Object.fromEntries(
        [...new Set(problemsOf(resource).map((code) => PROBLEMS[code][0]))]
          .filter((status) => !statuses.includes(status))
          .sort()
          .map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
  }
}

/** Returns a call of a resource in each language, for one that an API key may call. */
export function samplesOf(
  resource: Resource,
  schemas: JsonSchemas,
  serverUrl: string,
): readonly CodeSample[] {
  const parameters = [
    ...parametersOf('path', resource.params, schemas),
    ...parametersOf('query', resource.query, schemas),
  ]
  return codeSamples(pathOf(resource), parameters, serverUrl)
}

const KEY_FIELDS = ['X-Credits-Cost', 'X-Credits-Remaining', 'X-Unknown-Parameters']

const NOT_MODIFIED =
  'The answer has not changed since the ETag in `If-None-Match`. It costs the same credits.'

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description:
    'The `ETag` of an earlier answer. If the answer is unchanged, the response is 304 without a body.',
  schema: { type: 'string' },
}

/** A price in words, for example `3 credits`. */
export function priceText(price: number): string {
  return price === 1 ? '1 credit' : `${price} credits`
}

/**
 * Returns the operation id: `GET /tokens/:mint/wallet-aggregates` is
 * `getTokensMintWalletAggregates`.
 */
function operationId(resource: Resource): string {
  const words = resource.path.split(/[^A-Za-z]+/).filter((word) => word !== '')
  return `${methodOf(resource).toLowerCase()}${words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')}`
}

/** Returns the parameters of a schema of path or query, as OpenAPI Parameter Objects. */
export function parametersOf(
  where: 'path' | 'query',
  { shape }: z.ZodObject,
  schemas: JsonSchemas,
) {
  return Object.entries(shape).map(([name, schema]) => {
    // Parameter schemas are always zod schemas, but the type of a shape is wider.
    const { description, examples, ...rest } = schemas.of(schema as z.ZodType)
    const [example] = Array.isArray(examples) ? examples : []
    return {
      name,
      in: where,
      required: where === 'path' || !(schema as z.ZodType).safeParse(undefined).success,
      ...(description !== undefined && { description }),
      schema: rest,
      ...(example !== undefined && { example }),
    }
  })
}

/** Returns the problem codes that a resource may answer with. */
export function problemsOf(resource: Resource): readonly ProblemCode[] {
  const { price, docs, isUnlimited, needsSession, needsPro, requestBody } = resource
  return [
    ...(docs.problems ?? []),
    'invalid_parameter',
    'method_not_allowed',
    'payload_too_large',
    'internal_error',
    ...(isUnlimited ? [] : (['rate_limited', 'unavailable'] as const)),
    ...(price === null ? [] : KEY_PROBLEMS),
    ...(price ? (['insufficient_credits'] as const) : []),
    ...(needsSession ? (['unauthorized', 'account_disabled'] as const) : []),
    ...(needsPro ? (['pro_required'] as const) : []),
    ...(requestBody ? (['unsupported_media_type'] as const) : []),
  ]
}

const KEY_PROBLEMS = ['unauthorized', 'account_disabled', 'unavailable'] as const

/** Each status with its problem codes. */
const STATUSES = [...new Set(Object.values(PROBLEMS).map(([status]) => status))].map(
  (status) => [status, Object.entries(PROBLEMS).filter(([, [of]]) => of === status)] as const,
)

function refusal(
  status: number,
  codes: readonly (readonly [string, readonly [number, string]])[],
  schema: object,
): object {
  return {
    description: codes.map(([code, [, title]]) => `\`${code}\`: ${title}`).join('\n\n'),
    headers: {
      ...headerReferences(['API-Version', 'X-Request-Id']),
      ...Object.fromEntries((FIELDS_OF[status] ?? []).map((name) => [name, reference(name)])),
    },
    content: {
      'application/problem+json': {
        schema,
        examples: Object.fromEntries(
          codes.map(([code, [, title]]) => [
            code,
            {
              value: {
                type: 'about:blank',
                title,
                status,
                detail: code,
                code,
                request_id: '0198a1b2-0c3d-4e5f-8a9b-0c1d2e3f4a5b',
              },
            },
          ]),
        ),
      },
    },
  }
}

const FIELDS_OF: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
}

function reference(name: string): object {
  return { $ref: `#/components/headers/${name}` }
}

function headerReferences(names: readonly string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, reference(name)]))
}

const text = { type: 'string' }

const HEADERS = {
  'API-Version': {
    description: 'Major version of the API. Within a major version, changes only add.',
    required: true,
    schema: { type: 'string', const: '1' },
  },
  'X-Request-Id': {
    description: 'Id of the request; quote it when you ask for support.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  'X-Credits-Cost': {
    description: 'Credits charged for this answer; 0 on every refusal.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '3',
  },
  'X-Credits-Remaining': {
    description: "Credits left, less those reserved by the account's feed connection.",
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '99997',
  },
  'X-Unknown-Parameters': {
    description:
      'Names of query parameters that this path does not know and ignores, at most ten. Absent without one.',
    schema: text,
    example: 'sort',
  },
  ETag: {
    description: 'Version of the answer. Send it back as `If-None-Match`.',
    schema: text,
    example: 'W/"mUkuqtcKjnOS"',
  },
  'RateLimit-Policy': {
    description:
      'The policies that count this request (IETF draft ratelimit-headers): `default` by client address, `login` for logins, `account` for an API key, `dashboard` for a dashboard token. Each allows `q` requests in a window of `w` seconds, or `q` at the same time with `qu="concurrent-requests"`. A 429 names only the policy that refused, which may also be `login-network` (an IPv6 /48) or `auth` (invalid credentials). Absent when there is no limit.',
    schema: text,
    example: '"default";q=6000;w=60, "account";q=6000;w=60',
  },
  RateLimit: {
    description: 'For each policy: requests left (`r`), and seconds until the window ends (`t`).',
    schema: text,
    example: '"default";r=5999;t=60, "account";r=5990;t=42',
  },
  'Retry-After': {
    description: 'Seconds to wait before retrying.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1',
  },
  'WWW-Authenticate': {
    description: 'The required authentication scheme.',
    schema: text,
    example: 'Bearer',
  },
  Allow: { description: 'Methods that the path supports.', schema: text, example: 'GET' },
}
