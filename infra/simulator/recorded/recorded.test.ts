import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import test from 'ava'
import { jsonFromInfo } from '../rpc/transaction-json.ts'
import { startSimulator } from '../simulator.ts'
import { callRpc, collect, connectYellowstone, EMPTY_REQUEST } from '../testing/client.ts'
import { loadBlocks } from './load.ts'

const FILES = ['254170887', '432104870'].map((slot) =>
  join('..', 'shared', 'corpus', 'blocks', `${slot}.jsonl.gz`),
)
const withCorpus = FILES.every((file) => existsSync(file))
const corpusTest = withCorpus ? test : test.skip
const why = withCorpus ? '' : ' (skipped: ../shared/corpus is absent)'
const EVERYTHING = {
  ...EMPTY_REQUEST,
  slots: { slots: { filterByCommitment: true } },
  blocksMeta: { metas: {} },
  transactions: { all: { accountInclude: [], accountExclude: [], accountRequired: [] } },
}
const manual = { clock: { kind: 'manual' } } as const

function recordedLines(file: string): Record<string, unknown>[] {
  const text = gunzipSync(readFileSync(file)).toString('utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Parent, slot, number of transactions and time of each block meta. */
function metasOf(updates: readonly SubscribeUpdate[]) {
  return updates.flatMap(({ blockMeta: meta }) =>
    meta === undefined
      ? []
      : [[meta.parentSlot, meta.slot, meta.executedTransactionCount, meta.blockTime?.timestamp]],
  )
}

corpusTest(`recorded transactions go to protobuf and back without a change${why}`, (t) => {
  for (const [position, block] of loadBlocks(FILES).entries()) {
    const lines = recordedLines(FILES[position]!)
    t.is(block.transactions.length, lines.length)
    block.transactions.forEach((info, index) => {
      const wire = SubscribeUpdate.encode(
        SubscribeUpdate.fromPartial({ filters: [], transaction: { transaction: info, slot: '1' } }),
      ).finish()
      const back = SubscribeUpdate.decode(wire).transaction?.transaction
      const { version, transaction, meta } = lines[index]!
      t.deepEqual(JSON.parse(JSON.stringify(jsonFromInfo(back!))), { version, transaction, meta })
    })
  }
})

corpusTest(
  `recorded blocks keep their numbers and follow each other, then empty slots go on${why}`,
  async (t) => {
    const simulator = await startSimulator({ ...manual, recorded: { files: FILES } })
    t.is(simulator.wallets.length, 100)
    const stream = await collect(await (await connectYellowstone(simulator)).subscribe(EVERYTHING))
    simulator.advance(5)
    await stream.until((update) => update.slot?.slot === '432104872')
    t.deepEqual(metasOf(stream.updates), [
      ['254170886', '254170887', '602', '1710441678'],
      ['254170887', '432104870', '1194', '1783724872'],
      ['432104870', '432104871', '0', '1783724872'],
      ['432104871', '432104872', '0', '1783724872'],
    ])
    t.is(stream.updates.filter((update) => update.transaction !== undefined).length, 1_796)
    const block = (await callRpc(simulator, 'getBlock', 432_104_870, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    })) as { transactions: { transaction: unknown }[] }
    t.deepEqual(
      block.transactions.map(({ transaction }) => transaction),
      recordedLines(FILES[1]!).map(({ transaction }) => transaction),
    )
    stream.close()
    await simulator.close()
  },
)

corpusTest(`recorded blocks are split and led in on request${why}`, async (t) => {
  const recorded = { files: FILES, split: 2, leadIn: 2 }
  const simulator = await startSimulator({ ...manual, recorded })
  const stream = await collect(await (await connectYellowstone(simulator)).subscribe(EVERYTHING))
  simulator.advance(8)
  await stream.until((update) => update.slot?.slot === '254170891')
  t.deepEqual(metasOf(stream.updates), [
    ['254170884', '254170885', '0', '1710441677'],
    ['254170885', '254170886', '0', '1710441677'],
    ['254170886', '254170887', '301', '1710441678'],
    ['254170887', '254170888', '301', '1710441678'],
    ['254170888', '254170889', '597', '1783724872'],
    ['254170889', '254170890', '597', '1783724872'],
    ['254170890', '254170891', '0', '1783724872'],
  ])
  stream.close()
  await simulator.close()
})

corpusTest(
  `recorded blocks wait for the first subscription, and leap to the slot a later one asks for${why}`,
  async (t) => {
    const simulator = await startSimulator({ recorded: { files: FILES } })
    t.is(simulator.slot, 254_170_886)
    const client = await connectYellowstone(simulator)
    const stream = await collect(await client.subscribe({ ...EVERYTHING, fromSlot: '432104870' }))
    await stream.until((update) => update.slot?.slot === '432104870')
    t.is(stream.updates.filter((update) => update.transaction !== undefined).length, 1_194)
    stream.close()
    await simulator.close()
  },
)

test('a bad file of recorded blocks is named with its line', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'recorded-'))
  const write = (text: string) => {
    const file = join(folder, `${text.length}.jsonl`)
    writeFileSync(file, text)
    return file
  }
  const cases: [string, RegExp][] = [
    [
      join(folder, 'absent.jsonl'),
      /^SIMULATOR_BLOCKS: cannot read .*absent\.jsonl: there is no such file$/,
    ],
    [write(''), /^SIMULATOR_BLOCKS: no block in /],
    [write('{"slot":1'), /^SIMULATOR_BLOCKS: .*, line 1: not JSON$/],
    [write('\n{"transaction":{}}'), /^SIMULATOR_BLOCKS: .*, line 2: no slot$/],
    [write('{"slot":1,"transaction":{"message":{}}}'), /line 1: not a transaction with its meta$/],
  ]
  for (const [file, message] of cases) {
    await t.throwsAsync(startSimulator({ recorded: { files: [file] } }), {
      code: 'bad_config',
      message,
    })
  }
})
