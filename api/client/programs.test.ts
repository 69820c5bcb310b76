import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import test from 'ava'
import type { ServerMessage } from '../stream/messages.ts'
import { openEmbeddedStore } from '../testing/open-stores.ts'
import { startApi } from '../testing/start-api.ts'
import { WebhookSecrets } from '../webhooks/signature.ts'

/*
 * The programs of docs/feed.md and docs/webhooks.md, run in a folder outside the project that has
 * this package.
 */

const ROOT = join(import.meta.dirname, '../../..')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')

const folder = mkdtempSync(join(tmpdir(), 'readme-'))
test.after.always('remove', () => rmSync(folder, { recursive: true, force: true }))

const run = promisify(execFile)

test('the TypeScript programs compile strictly against the types of the package; the one of the feed prints why it ends, and that of webhooks each message once', async (t) => {
  const opened = await openEmbeddedStore()
  const api = await startApi(opened.store)
  t.teardown(async () => {
    await api.close()
    await opened.remove()
  })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules/tracked-wallets'))
  symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  const example = program('feed', 'ts').replace('http://127.0.0.1:8080', api.url)
  writeFileSync(join(folder, 'example.ts'), example)
  const receiver = program('webhooks', 'ts').replace(
    'server.listen(8000)',
    'server.listen(0, () => console.log(JSON.stringify(server.address())))',
  )
  writeFileSync(join(folder, 'receive.ts'), receiver)
  // Responses have their fields and no others.
  writeFileSync(
    join(folder, 'types.ts'),
    `import { TrackedWallets } from 'tracked-wallets/client'
    const { items } = await new TrackedWallets({ url: '', apiKey: '' }).trades()
    export const amount: number | undefined = items[0]?.sol_amount
    // @ts-expect-error
    export const nothing = items[0]?.nothing`,
  )
  const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node']
  const tsc = await outcome(process.execPath, [
    TSC,
    ...options,
    'example.ts',
    'receive.ts',
    'types.ts',
  ])
  t.deepEqual(tsc, { code: 0, stdout: '', stderr: '' })

  const follow = (KEY: string) => outcome(process.execPath, ['example.js'], { KEY })
  const ends = async (credits: number) => follow((await api.customer(credits)).key)
  const { stderr, ...refused } = await follow('tw_no')
  t.deepEqual(refused, { code: 1, stdout: '' })
  t.regex(stderr, /^unauthorized: [^\n]+\n$/)
  t.regex((await ends(0)).stderr, /^insufficient_credits: [^\n]+\n$/)
  t.regex((await ends(3)).stderr, /^insufficient_credits: no credits are left: top up first\n$/)
  // No wallet is tracked here.
  const compiled = join(folder, 'example.js')
  const some = readFileSync(compiled, 'utf8').replace(
    '{ after: head }',
    "{ after: head, wallets: ['W1'] }",
  )
  writeFileSync(compiled, some)
  t.regex((await ends(9)).stderr, /^wallet_not_found: [^\n]+\n$/)

  t.deepEqual(await received(process.execPath, ['receive.js']), {
    statuses: STATUSES,
    lines: PRINTED.map((line) => `${line} { alias: 'W1' }`),
  })
})

const hasPython = spawnSync('python3', ['--version']).status === 0

;(hasPython ? test : test.skip)(
  `the Python program of the feed prints trades and gaps, and why it ends${hasPython ? '' : ' (python3 is missing)'}`,
  async (t) => {
    writeFileSync(join(folder, 'websockets.py'), PLAYER)
    writeFileSync(join(folder, 'example.py'), program('feed', 'python'))
    const retracted = { ...TRADE, channel: undefined, type: 'retracted' }
    t.deepEqual(await played([GAP, TRADE, retracted, { type: 'balance_exhausted' }]), {
      code: 1,
      stdout: "t1 {'alias': 'W1'}\nt1 withdrawn\n",
      stderr: `gap: trades before this position are only in GET /trades: c1
balance_exhausted: no credits are left: top up, then resume from the last id\n`,
    })
    const error = { type: 'error', code: 'invalid_cursor', message: 'no such place' } as const
    const ends: [(ServerMessage | Refusal)[], RegExp][] = [
      [[error], /^invalid_cursor: no such place\n$/],
      [[{ type: 'superseded' }], /^superseded: [^\n]+\n$/],
      [[{ type: 'key_rotated' }], /^key_rotated: [^\n]+\n$/],
      [[{ status: 402, code: 'c', title: 'none left' }], /^c: none left\n$/],
    ]
    for (const [messages, sentence] of ends) {
      const { code, stderr } = await played(messages)
      t.is(code, 1)
      t.regex(stderr, sentence)
    }
  },
)

;(hasPython ? test : test.skip)(
  `the Python program of webhooks prints each message once${hasPython ? '' : ' (python3 is missing)'}`,
  async (t) => {
    const port = 'print(json.dumps({"port": server.server_port}), flush=True)'
    const receiver = program('webhooks', 'python')
      .replace('("", 8000)', '("127.0.0.1", 0)')
      .replace('server.serve_forever()', `${port}\nserver.serve_forever()`)
    writeFileSync(join(folder, 'receive.py'), receiver)
    t.deepEqual(await received('python3', ['receive.py']), {
      statuses: STATUSES,
      lines: PRINTED.map((line) => `${line} {'alias': 'W1'}`),
    })
  },
)

/** Deliveries to a receiver: the messages, a repetition within more, a forged one, and a test. */
async function received(command: string, args: string[]) {
  const secrets = new WebhookSecrets([new Uint8Array(32).fill(1)])
  const hook = { id: 'w', rotations: 0, rotatedAt: null }
  const env = { ...process.env, SECRET: secrets.secretOf(hook) }
  const receiver = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]()
  try {
    const { port } = JSON.parse((await lines.next()).value)
    const again = { ...TRADE, id: 'c3' }
    const retracted = { ...again, channel: undefined, type: 'retracted' }
    const other = { ...TRADE, trade_id: 't2' }
    const bodies = [
      { type: 'trades', data: { webhook: 'w', cursor: 'c2', messages: [TRADE] } },
      {
        type: 'trades',
        data: { webhook: 'w', cursor: 'c4', messages: [again, retracted, GAP, retracted, other] },
      },
      { type: 'trades', data: { webhook: 'w', cursor: 'c5', messages: [] }, isForged: true },
      { type: 'test', data: { webhook: 'w' } },
    ]
    const statuses: number[] = []
    for (const { isForged = false, ...body } of bodies) {
      const text = JSON.stringify(body)
      const headers = secrets.headers(hook, 'd', isForged ? `${text} ` : text, Date.now())
      const url = `http://127.0.0.1:${port}`
      statuses.push((await fetch(url, { method: 'POST', headers, body: text })).status)
    }
    const printed = []
    for (const _ of PRINTED) printed.push((await lines.next()).value)
    return { statuses, lines: printed }
  } finally {
    receiver.kill()
  }
}

/** Answers of a receiver to these deliveries, and what it prints before the trades. */
const STATUSES = [204, 204, 400, 204]
const PRINTED = ['trade t1', 'retracted t1', 'trade t2']

interface Refusal {
  readonly status: number
  readonly code: string
  readonly title: string
}

/** Output of the Python program for these messages, or for a refused handshake. */
function played(messages: readonly unknown[]) {
  return outcome('python3', ['example.py'], { KEY: 'tw_x', PLAYED: JSON.stringify(messages) })
}

const GAP = { type: 'gap', oldest: 'c1' } as const
const TRADE = { channel: 'trades', id: 'c2', trade_id: 't1', data: { alias: 'W1' } }

/** Replaces the package `websockets`: one connection, which plays the messages in `PLAYED`. */
const PLAYER = `
import json, os

class ConnectionClosed(Exception): pass

class InvalidStatus(Exception):
    def __init__(self, played):
        self.response = self
        self.status_code = played["status"]
        self.body = json.dumps(played).encode()

class connect:
    def __init__(self, url, additional_headers):
        assert url.endswith("/ws") and additional_headers == {"Authorization": "Bearer tw_x"}
        self.played = json.loads(os.environ["PLAYED"])
    async def __aenter__(self):
        if "status" in self.played[0]: raise InvalidStatus(self.played[0])
        return self
    async def __aexit__(self, *_): pass
    async def send(self, text): assert json.loads(text)["action"] == "subscribe"
    async def __aiter__(self):
        for message in self.played: yield json.dumps(message)
        raise SystemExit("the program did not end")
`

/** Runs a program in the folder until it ends. */
async function outcome(command: string, args: string[], env: NodeJS.ProcessEnv = {}) {
  const options = { cwd: folder, env: { ...process.env, ...env }, timeout: 60_000 }
  const ended = await run(command, args, options).catch((error) => error)
  return { code: ended.code ?? 0, stdout: ended.stdout, stderr: ended.stderr }
}

/** The first program of a page in a language. */
function program(page: 'feed' | 'webhooks', language: string): string {
  const text = readFileSync(join(ROOT, `docs/${page}.md`), 'utf8')
  const code = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(text)?.[1]
  if (code === undefined) throw new Error(`docs/${page}.md has no program in ${language}`)
  return code
}
