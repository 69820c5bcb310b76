/** A call of an operation in one language (`x-codeSamples`, as Redoc and others read it). */
export interface CodeSample {
  /** Name of the language for syntax highlighting. */
  readonly lang: 'Shell' | 'TypeScript' | 'Python'
  /** What readers see. */
  readonly label: 'curl' | 'TypeScript' | 'Python'
  /** Takes the API key from the environment variable `KEY`. */
  readonly source: string
}

/** A parameter of an operation (OpenAPI Parameter Object). */
interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly example?: unknown
}

/**
 * The method of the TypeScript client for each operation that an API key may call. The method of
 * the Python client has the same name in snake case. Required parameters are its arguments, in the
 * order of the document; optional ones are an object in TypeScript and keywords in Python.
 */
const METHODS: Readonly<Record<string, string>> = {
  '/tokens/{mint}/swaps': 'tokenSwaps',
  '/tokens/{mint}/wallet-aggregates': 'tokenAggregates',
  '/tokens/held': 'heldTokens',
  '/tokens/{mint}': 'token',
  '/wallets': 'wallets',
  '/wallets/{alias}/metrics': 'walletMetrics',
  '/wallets/holdings': 'holdings',
  '/wallets/{alias}/holdings': 'walletHoldings',
  '/wallets/{alias}/trades': 'walletTrades',
  '/wallets/{alias}/positions': 'walletPositions',
  '/wallets/{alias}/pnl': 'walletPnl',
  '/trades': 'trades',
  '/prices/sol': 'solPrice',
  '/search': 'search',
  '/account': 'account',
}

/**
 * Returns a call of `GET path` at `serverUrl` with curl and with the packages of customers. It has
 * each parameter that has an example. `path` is in the notation of the documents.
 */
export function codeSamples(
  path: string,
  parameters: readonly Parameter[],
  serverUrl: string,
): readonly CodeSample[] {
  const method = METHODS[path]
  if (method === undefined) throw new Error(`METHODS has no method for GET ${path}`)
  const shown = parameters.filter(({ required, example }) => required || example !== undefined)
  const values = shown.map((parameter) => ({ ...parameter, text: exampleText(parameter) }))
  const required = values.filter((one) => one.required)
  const optional = values.filter((one) => !one.required)
  const call = (args: readonly string[]) => `(${args.join(', ')})`
  const fields = optional.map(({ name, text }) => `${name}: '${text}'`).join(', ')
  const typeScript = call([
    ...required.map(({ text }) => `'${text}'`),
    ...(fields === '' ? [] : [`{ ${fields} }`]),
  ])
  const python = call([
    ...required.map(({ text }) => `"${text}"`),
    ...optional.map(({ name, text }) => `${name}="${text}"`),
  ])
  return [
    {
      lang: 'Shell',
      label: 'curl',
      source: `curl -H "Authorization: Bearer $KEY" '${serverUrl}${target(path, values)}'`,
    },
    {
      lang: 'TypeScript',
      label: 'TypeScript',
      source: `import { TrackedWallets } from 'tracked-wallets-client'

const service = new TrackedWallets({ url: '${serverUrl}', apiKey: process.env.KEY ?? '' })
console.log(await service.${method}${typeScript})`,
    },
    {
      lang: 'Python',
      label: 'Python',
      source: `import os
from tracked_wallets import TrackedWallets

with TrackedWallets("${serverUrl}", os.environ["KEY"]) as service:
    print(service.${snakeCase(method)}${python})`,
    },
  ]
}

/** Returns the example of a parameter. Its characters need no quoting in any of the languages. */
function exampleText({ name, example }: Parameter): string {
  if (typeof example === 'string' && /^\w+$/.test(example)) return example
  throw new Error(`the parameter ${name} needs an example of letters and digits`)
}

/** Returns path and query of the request. */
function target(path: string, values: readonly (Parameter & { readonly text: string })[]): string {
  const query = values.filter((one) => one.in === 'query')
  const pairs = query.map(({ name, text }) => `${name}=${text}`).join('&')
  const filled = values
    .filter((one) => one.in === 'path')
    .reduce((filling, { name, text }) => filling.replace(`{${name}}`, text), path)
  return `${filled}${pairs === '' ? '' : `?${pairs}`}`
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
