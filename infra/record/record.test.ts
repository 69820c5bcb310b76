import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import test from 'ava'
import bs58 from 'bs58'
import { jsonFromInfo } from '../simulator/rpc/transaction-json.ts'
import { startSimulator } from '../simulator/simulator.ts'

const START = 405_000_000

test('transactions of every version are recorded as RPC returns them', async (t) => {
  const clock = { kind: 'manual', startSlot: START } as const
  const simulator = await startSimulator({ clock, wallets: 5, coins: 40, othersPerSlot: 2 })
  const folder = mkdtempSync(join(tmpdir(), 'record-'))
  t.teardown(async () => {
    rmSync(folder, { recursive: true })
    await simulator.close()
  })
  const byVersion = new Map<string, string>()
  for (let slot = START - 60; slot < START - 40; slot += 1) {
    for (const info of simulator.market.block(slot).transactions) {
      byVersion.set(String(jsonFromInfo(info).version), bs58.encode(info.signature))
    }
  }
  const list = join(folder, 'signatures.txt')
  const out = join(folder, 'recorded.jsonl.gz')
  writeFileSync(list, [...byVersion.values()].join('\n'))
  const main = join(import.meta.dirname, 'main.js')
  const flags = ['--rpc', simulator.rpcUrl, '--out', out, '--signatures', list]
  await promisify(execFile)(process.execPath, [main, ...flags])
  const lines = gunzipSync(readFileSync(out)).toString('utf8').trim().split('\n')
  const recorded = lines.map((line) => {
    const { version, transaction } = JSON.parse(line)
    return [String(version), transaction.signatures[0]]
  })
  t.deepEqual(recorded, [...byVersion])
  t.deepEqual([...byVersion.keys()].sort(), ['0', '1', 'legacy'])
})
