import test from 'ava'
import { makeSbom } from './sbom.ts'

test('the SBOM lists every production package and no development package', (t) => {
  const { text, missing } = makeSbom()
  t.deepEqual(missing, [])
  for (const name of ['koa', 'ws', '%40solana/web3.js', 'chdb'])
    t.true(text.includes(`"pkg:npm/${name}@`), name)
  for (const name of ['ava', '%40biomejs/biome', 'playwright-core', 'litesvm'])
    t.false(text.includes(`"pkg:npm/${name}@`), name)
})
