import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'ava'
import { type StartSimulatedMarket, startSimulatedMarket } from '../service/simulated-market.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { ROOT, startProcess } from './service-process.ts'

/** A folder with the production build, and with the other files of the image. */
const image = mkdtempSync(join(tmpdir(), 'production-build-'))
const main = join(image, 'dist/infra/service/main.js')

test.before('build', () => {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const build = [tsc, '-p', 'tsconfig.production.json', '--outDir', join(image, 'dist')]
  execFileSync(process.execPath, build, { cwd: ROOT, stdio: ['ignore', 2, 2] })
  for (const path of [
    'node_modules',
    'package.json',
    'sql',
    'pipeline/trending/strategies.jsonc',
    'pipeline/decode/labels.csv',
  ]) {
    mkdirSync(dirname(join(image, path)), { recursive: true })
    symlinkSync(join(ROOT, path), join(image, path))
  }
})
test.after.always('remove', () => rmSync(image, { recursive: true, force: true }))

test('the production build has no test and no development software', (t) => {
  const left = ['infra/simulator', 'infra/bench', 'infra/corpus', 'pipeline/testing']
  t.deepEqual(
    left.filter((path) => existsSync(join(image, 'dist', path))),
    [],
  )
  t.false(existsSync(join(image, 'dist/infra/boundaries.test.js')))
})

test('the production build starts with real endpoints, without the simulator', async (t) => {
  const simulator = await startSimulator()
  t.teardown(() => simulator.close())
  const walletsFile = join(image, 'wallets.txt')
  writeFileSync(walletsFile, `${simulator.wallets.join('\n')}\n`)
  const service = startProcess(main, {
    ...environment('data'),
    YELLOWSTONE_ENDPOINT: simulator.endpoint,
    SOLANA_RPC_URL: simulator.rpcUrl,
    SOL_PRICE_POOL: simulator.solPricePool,
    WALLETS_FILE: walletsFile,
  })
  t.teardown(() => service.kill())
  t.true((await fetch(`${await service.line('url')}/healthz`)).ok)
  t.is(await service.stop(), 0)
})

test('asked for the simulated market, the production build says what to configure', async (t) => {
  const service = startProcess(main, environment('none'))
  t.teardown(() => service.kill())
  t.is(await service.ended, 1)
  t.regex(service.stderr(), /^YELLOWSTONE_ENDPOINT: required, .* no simulated market/)
})

test('the service can load the simulator as its simulated market', async (t) => {
  const start: StartSimulatedMarket = startSimulator // the compiler checks the type
  t.is(typeof start, 'function')
  const market = await startSimulatedMarket({ seed: 3, historyHours: 0 })
  t.teardown(() => market.close())
  t.true(market.wallets.length > 0)
})

function environment(dataDir: string): Record<string, string> {
  return { DATA_DIR: join(image, dataDir), PORT: '0', METRICS_PORT: '0' }
}
