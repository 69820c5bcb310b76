/*
 * Runs each sample in TypeScript of the service's documents as it is, but for the mint, with the
 * installed package. `clients/check.sh` copies this file beside it.
 */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import test from 'node:test'
import { TrackedWallets } from 'tracked-wallets-client'

const { CLIENTS_URL: url, CLIENTS_KEY: apiKey } = process.env
process.env.KEY = apiKey

test('each sample calls its operation', async (context) => {
  const { paths } = await (await fetch(`${url}/openapi.json`)).json()
  const { items } = await new TrackedWallets({ url, apiKey }).trades({ limit: 1 })
  const operations = Object.entries(paths).filter(([, { get }]) => get?.['x-codeSamples'])
  const asked = []
  const { fetch: send } = globalThis
  context.mock.method(console, 'log', () => {})
  context.mock.method(globalThis, 'fetch', async (target, init) => {
    const response = await send(target, init)
    asked.push(`${response.status} ${new URL(target).pathname}`)
    return response
  })
  for (const [index, [, { get }]] of operations.entries()) {
    const { source } = get['x-codeSamples'].find(({ lang }) => lang === 'TypeScript')
    const { example } = get.parameters.find(({ name }) => name === 'mint') ?? {}
    const file = new URL(`sample-${index}.mjs`, import.meta.url)
    await writeFile(file, example ? source.replace(example, items[0].mint) : source)
    await import(file)
  }
  assert.ok(operations.length > 0)
  assert.deepEqual(
    asked,
    operations.map(
      ([path]) => `200 ${path.replace('{alias}', 'W1').replace('{mint}', items[0].mint)}`,
    ),
  )
})
