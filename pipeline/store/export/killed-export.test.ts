import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'ava'

const SCRIPT = new URL('../../testing/export-process.js', import.meta.url).pathname
const DAY = String(Date.parse('2026-01-04') / 86_400_000)
const TABLES = ['swaps', 'positions', 'wallet_days', 'disposals']
/** Statements before the first day is written, and of a run that writes nothing. */
const FIRST = 4
const KILLS = 20

test('an export that was killed twenty times ends with the files of one that was not', async (t) => {
  t.timeout(180_000)
  const folder = mkdtempSync(join(tmpdir(), 'killed-export-'))
  const running = new Set<ChildProcess>()
  t.teardown(() => {
    for (const child of running) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const start = (what: 'fill' | 'export', place: string) => {
    const args = [SCRIPT, what, join(folder, 'data'), DAY, join(folder, place), ...TABLES]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    running.add(child)
    child.on('exit', () => running.delete(child))
    return child
  }
  /** Runs an export; kills it at its n-th statement. Returns its exit code, null when killed. */
  const run = async (what: 'fill' | 'export', place: string, killAt?: number) => {
    const child = start(what, place)
    const ended = once(child, 'exit')
    let statements = 0
    createInterface({ input: child.stdout }).on('line', () => {
      statements += 1
      if (statements === killAt) child.kill('SIGKILL')
    })
    const [code] = await ended
    return code
  }
  t.is(await run('fill', ''), 0)
  t.is(await run('export', 'whole'), 0)
  const codes: unknown[] = []
  for (let n = 0; n < KILLS; n++) codes.push(await run('export', 'killed', FIRST + n))
  t.deepEqual(codes, Array(KILLS).fill(null), 'each run was killed before its end')
  t.is(await run('export', 'killed'), 0)
  t.deepEqual(contentOf(join(folder, 'killed')), contentOf(join(folder, 'whole')))
})

function contentOf(folder: string) {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(folder, name)).toString('base64')]),
  )
}
