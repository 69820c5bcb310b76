import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import test from 'ava'
import { ask } from '../testing/ask.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { insertWallets } from '../testing/rows.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'

const BRIDGE = join(import.meta.dirname, 'bridge.js')
let opened: TestStore
let api: TestApi

test.before(async () => {
  opened = await openEmbeddedStore()
  await insertWallets(opened.store, 2)
  api = await startApi(opened.store)
  await api.writer.moveTo(100)
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

function transportTo(key: string) {
  return new StdioClientTransport({
    command: process.execPath,
    args: [BRIDGE],
    env: { TRACKED_WALLETS_URL: api.url, TRACKED_WALLETS_API_KEY: key },
    stderr: 'ignore',
  })
}

test('over stdio the tools answer as over HTTP', async (t) => {
  const { key } = await api.customer(10)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transportTo(key) as never) // its types lack exactOptionalPropertyTypes
  const { tools } = await client.listTools()
  t.true(tools.some(({ name }) => name === 'follow_trades'))
  const { structuredContent, _meta } = await client.callTool({ name: 'list_wallets' })
  t.deepEqual(structuredContent, (await ask(api, '/wallets', key)).body)
  t.is(_meta?.credits_cost, 1)
  await client.close()
})

test('a refusal of the service is the error of the message, without the key', async (t) => {
  const client = new Client({ name: 'test', version: '1' })
  const error = await t.throwsAsync(client.connect(transportTo('tw_secret') as never))
  t.regex(error?.message ?? '', /unauthorized/)
  t.notRegex(error?.message ?? '', /tw_secret/)
})

test('what the environment lacks is said at once, and the end of stdin ends the bridge', async (t) => {
  const { status, stderr } = spawnSync(process.execPath, [BRIDGE], { env: {}, encoding: 'utf8' })
  t.is(status, 1)
  t.is(
    stderr,
    'TRACKED_WALLETS_URL: expected the address of the service, as https://host\nTRACKED_WALLETS_API_KEY: expected an API key, tw_...\n',
  )
  const env = { TRACKED_WALLETS_URL: api.url, TRACKED_WALLETS_API_KEY: 'tw_x' }
  const bridge = spawn(process.execPath, [BRIDGE], { env, stdio: ['pipe', 'ignore', 'ignore'] })
  bridge.stdin.end()
  t.is(await new Promise((resolve) => bridge.on('exit', resolve)), 0)
})
