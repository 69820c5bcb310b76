import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import type { ServerMessage } from '../stream/messages.ts'
import { openEmbeddedStore } from '../testing/open-stores.ts'
import { startApi } from '../testing/start-api.ts'

/*
 * The programs of docs/feed.md, run in a folder outside the project that has this package.
 */

const ROOT = join(import.meta.dirname, '../../..')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const PAGE = readFileSync(join(ROOT, 'docs/feed.md'), 'utf8')

const folder = mkdtempSync(join(tmpdir(), 'readme-'))
test.after.always('remove', () => rmSync(folder, { recursive: true, force: true }))

const run = promisify(execFile)

test('the TypeScript program compiles strictly against the types of the package, and prints why it ends', async (t) => {
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
  const example = program('ts').replace('http://127.0.0.1:8080', api.url)
  writeFileSync(join(folder, 'example.ts'), example)
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
  const tsc = await outcome(process.execPath, [TSC, ...options, 'example.ts', 'types.ts'])
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
})

const hasPython = spawnSync('python3', ['--version']).status === 0

;(hasPython ? test : test.skip)(
  `the Python program prints trades and gaps, and why it ends${hasPython ? '' : ' (python3 is missing)'}`,
  async (t) => {
    writeFileSync(join(folder, 'websockets.py'), PLAYER)
    writeFileSync(join(folder, 'example.py'), program('python'))
    const gap = { type: 'gap', oldest: 'c1' } as const
    const retracted = { ...TRADE, channel: undefined, type: 'retracted' }
    t.deepEqual(await played([gap, TRADE, retracted, { type: 'balance_exhausted' }]), {
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

interface Refusal {
  readonly status: number
  readonly code: string
  readonly title: string
}

/** Output of the Python program for these messages, or for a refused handshake. */
function played(messages: readonly unknown[]) {
  return outcome('python3', ['example.py'], { KEY: 'tw_x', PLAYED: JSON.stringify(messages) })
}

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

/** The first program of `docs/feed.md` in a language. */
function program(language: string): string {
  const code = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(PAGE)?.[1]
  if (code === undefined) throw new Error(`docs/feed.md has no program in ${language}`)
  return code
}
