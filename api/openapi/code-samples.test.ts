import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { TrackedWallets } from '../client/client.ts'
import { declaredResources } from '../testing/declared-resources.ts'
import { type CodeSample, codeSamples } from './code-samples.ts'
import { openApiDocument } from './openapi.ts'

/*
 * The samples of the documents. `clients/check.sh` runs them with the installed packages.
 */

const MINT = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'

/** Each operation that an API key may call, with the request that its samples make. */
const REQUESTS = [
  ['/tokens/{mint}/swaps', `/tokens/${MINT}/swaps`],
  ['/tokens/{mint}/wallet-aggregates', `/tokens/${MINT}/wallet-aggregates`],
  ['/tokens/held', '/tokens/held'],
  ['/tokens/{mint}', `/tokens/${MINT}`],
  ['/wallets', '/wallets'],
  ['/wallets/{alias}/metrics', '/wallets/W1/metrics'],
  ['/wallets/holdings', '/wallets/holdings?alias=W1'],
  ['/wallets/{alias}/holdings', '/wallets/W1/holdings'],
  ['/wallets/{alias}/trades', '/wallets/W1/trades'],
  ['/wallets/{alias}/positions', '/wallets/W1/positions'],
  ['/wallets/{alias}/pnl', '/wallets/W1/pnl'],
  ['/trades', '/trades?wallet=W1'],
  ['/prices/sol', '/prices/sol'],
  ['/search', '/search?q=bonk'],
  ['/account', '/account'],
]

/** Returns each operation that an API key may call, and its samples. */
function operationsOf(serverUrl: string): (readonly [string, readonly CodeSample[]])[] {
  const { paths } = openApiDocument(declaredResources(), serverUrl) as {
    readonly paths: Readonly<
      Record<
        string,
        { readonly get?: { readonly security: object[]; readonly 'x-codeSamples'?: CodeSample[] } }
      >
    >
  }
  return Object.entries(paths)
    .filter(([, { get }]) => get?.security.some((one) => 'apiKey' in one))
    .map(([path, { get }]) => [path, get?.['x-codeSamples'] ?? []])
}

test('every operation that an API key may call has a sample in each language', (t) => {
  t.deepEqual(
    operationsOf('http://127.0.0.1:8080').map(([path, samples]) => [
      path,
      samples.map(({ lang, label }) => `${lang} ${label}`),
    ]),
    REQUESTS.map(([path]) => [path, ['Shell curl', 'TypeScript TypeScript', 'Python Python']]),
  )
})

test('a sample in TypeScript calls its operation, as the one with curl does', async (t) => {
  const asked: (string | undefined)[] = []
  const server = createServer(({ url }, response) => {
    asked.push(url)
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const operations = operationsOf(serverUrl)
  for (const [, [, typeScript]] of operations) {
    const program = (typeScript?.source ?? '').replace(/^import .*\n/, '')
    const run = new AsyncFunction('TrackedWallets', 'console', program)
    await run(TrackedWallets, { log: () => {} })
  }
  const requests = REQUESTS.map(([, request]) => request)
  t.deepEqual(asked, requests)
  t.deepEqual(
    operations.map(([, [curl]]) => curl?.source),
    requests.map((request) => `curl -H "Authorization: Bearer $KEY" '${serverUrl}${request}'`),
  )
})

/** Makes a function of a text that may use `await`. */
const AsyncFunction = (async () => {}).constructor as new (
  ...parametersAndBody: string[]
) => (...values: unknown[]) => Promise<void>

test('a sample in Python has the method in snake case, and keywords', (t) => {
  const wallet = { name: 'wallet', in: 'query', required: false, example: 'W1' } as const
  const [, , python] = codeSamples(
    '/wallets/{alias}/pnl',
    [
      { name: 'alias', in: 'path', required: true, example: 'W2' },
      wallet,
      { name: 'limit', in: 'query', required: false },
    ],
    'https://example.com',
  )
  t.is(
    python?.source,
    `import os
from tracked_wallets import TrackedWallets

with TrackedWallets("https://example.com", os.environ["KEY"]) as service:
    print(service.wallet_pnl("W2", wallet="W1"))`,
  )
})

test('there is no sample of an operation without a method, nor of a parameter that needs quoting', (t) => {
  t.throws(() => codeSamples('/new', [], 'https://example.com'), { message: /METHODS/ })
  const q = { name: 'q', in: 'query', required: true, example: "it's" } as const
  t.throws(() => codeSamples('/search', [q], 'https://example.com'), { message: /parameter q/ })
})
