import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { identifyProcess, isRunning, type ProcessIdentity } from '../servers/process-identity.ts'
import { until } from './customer.ts'
import { ROOT } from './service-process.ts'

/*
 * A signal to npm must reach the program: npm passes it to its child, so that no shell may be
 * between the two.
 */

const folder = mkdtempSync(join(tmpdir(), 'npm-signals-'))
test.after.always('remove', () => rmSync(folder, { recursive: true, force: true }))

/** Starts an npm script without a build: `--ignore-scripts` skips `prestart`. */
function npm(t: ExecutionContext, env: Readonly<Record<string, string>>, ...args: string[]) {
  const child = spawn('npm', ['run', '--ignore-scripts', ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  // Kills the whole process group: a process of it may have outlived npm.
  t.teardown(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {}
  })
  let stderr = ''
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return { child, stdout: () => stdout, stderr: () => stderr }
}

/**
 * Sends SIGTERM to npm alone. Returns npm's exit code, and whether the program still runs after npm
 * has ended.
 */
async function terminate(npmProcess: ChildProcess, program: ProcessIdentity | null) {
  const exit = once(npmProcess, 'close')
  npmProcess.kill('SIGTERM')
  const [code, signal] = await exit
  return { code: code ?? signal, runsOn: program !== null && isRunning(program) }
}

test.serial('SIGTERM to `npm start` stops the service, whose process id is logged', async (t) => {
  const env = {
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    METRICS_PORT: '0',
    SIMULATOR_HISTORY_HOURS: '0',
  }
  const { child, stderr } = npm(t, env, 'start')
  const line = await until(
    async () =>
      stderr()
        .split('\n')
        .find((text) => text.includes('"service started"')),
    (found) => found !== undefined,
  )
  const { pid } = JSON.parse(line ?? '') as { readonly pid: number }
  const service = identifyProcess(pid)
  t.regex(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), /^node\0.*infra\/service\/main\.js\0$/s)
  t.deepEqual(await terminate(child, service), { code: 0, runsOn: false })
  t.true(stderr().includes('"service stopped"'))
})

test.serial('SIGTERM to `npm run operator -- backfill` stops the backfill', async (t) => {
  let requests = 0
  const rpc = createServer((socket) => {
    requests += 1
    socket.on('error', () => {}).resume() // never answers
  }).listen(0, '127.0.0.1')
  t.teardown(() => rpc.close())
  await once(rpc, 'listening')
  const { port } = rpc.address() as AddressInfo // listening on TCP
  const env = { DATA_DIR: join(folder, 'data'), SOLANA_RPC_URL: `http://127.0.0.1:${port}` }
  const { child, stdout } = npm(
    t,
    env,
    'operator',
    '--',
    'backfill',
    '--wallet',
    'all',
    '--from',
    '1',
  )
  await until(
    async () => requests,
    (count) => count > 0,
  )
  const program = programOf(child.pid ?? 0)
  t.not(program, null)
  t.deepEqual(await terminate(child, program), { code: 1, runsOn: false })
  t.is((JSON.parse(stdout().split('\n').at(-2) ?? '') as { code: string }).code, 'closed')
})

test('every npm script that runs node replaces its shell with it', (t) => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  const shelled = Object.entries(scripts).filter(([, text]) => /(?<!exec )\bnode /.test(text))
  t.deepEqual(shelled, [])
})

/** The node process that npm has started, at any depth. */
function programOf(npmPid: number): ProcessIdentity | null {
  const children = readFileSync(`/proc/${npmPid}/task/${npmPid}/children`, 'utf8').trim()
  for (const pid of children === '' ? [] : children.split(' ').map(Number)) {
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('node\0'))
      return identifyProcess(pid)
    const below = programOf(pid)
    if (below) return below
  }
  return null
}
