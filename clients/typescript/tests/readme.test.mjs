/*
 * Runs the samples of the package's README as programs, but for that of webhooks, which
 * package.test.mjs delivers to. `clients/check.sh` copies this file beside the installed package.
 */

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import test from 'node:test'
import { promisify } from 'node:util'

const { CLIENTS_URL: url, CLIENTS_KEY: apiKey } = process.env
const env = { ...process.env, KEY: apiKey }
const OPENED = /^[\s\S]*?\nconst service = .*\n/ // of the first sample

/** Writes the samples as files; each goes on where the first has made a client. */
async function programs() {
  const readme = await readFile('node_modules/tracked-wallets-client/README.md', 'utf8')
  const samples = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text]) => text)
  const own = samples.filter((text) => !text.includes('readDelivery'))
  const [opened] = OPENED.exec(own[0])
  return Promise.all(
    own.map(async (text, index) => {
      const file = `readme-${index}.mjs`
      const whole = index === 0 ? text : opened + text
      await writeFile(file, whole.replace('http://127.0.0.1:8080', url))
      return file
    }),
  )
}

const linesOf = async (file) =>
  (await promisify(execFile)(process.execPath, [file], { env })).stdout.trim().split('\n')

test('the samples of the README print trades, the best wallets and the feed', async () => {
  const [first, choice, feed] = await programs()
  const trades = await linesOf(first)
  assert.equal(trades.length, 5)
  for (const line of trades) assert.match(line, /^W\d+ (buy|sell) \S+ /)
  for (const line of (await linesOf(choice)).filter((text) => text !== ''))
    assert.match(line, /^W\d+ -?[\d.]+ /)
  const program = spawn(process.execPath, [feed], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await new Promise((resolve) =>
    createInterface(program.stdout).once('line', (...printed) => resolve(printed)),
  )
  program.kill()
  assert.match(line, /^\S{20,} \{/)
})
