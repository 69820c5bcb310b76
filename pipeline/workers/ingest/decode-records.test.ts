import test from 'ava'
import { createDecoder } from '../../decode/decoder.ts'
import { anchorDiscriminator } from '../../decode/program.ts'
import { WSOL } from '../../domain/quote.ts'
import { RpcErrorResponse } from '../../ingest/rpc/json-rpc.ts'
import { createMintDecimals } from '../../ingest/rpc/mint-decimals.ts'
import { createRefusals } from '../../ingest/rpc/refusals.ts'
import { createIngestMetrics } from '../../ingest/telemetry.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { TransactionStory, trackedNames } from '../../testing/transaction-story.ts'
import { decodeRecords } from './decode-records.ts'

const PUMPSWAP = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'

/** A swap of a token whose decimals the transaction does not state. */
function withoutDecimals() {
  const story = new TransactionStory('w').sol('vault', 10_000n).token('pool', 'pool', WSOL, 0n)
  story.openToken('w', 'temp', 'w', 'RARE').mintTo('RARE', 'temp', 5n)
  story.call(PUMPSWAP, anchorDiscriminator('buy'), ['w'], () =>
    story.burn('temp', 5n).transferSol('vault', 'w', 500n),
  )
  return story.close('temp', 'w').build()
}

test('a transaction with a mint whose decimals RPC refuses is stored undecoded, with its bytes, and counted (rules K7, K10)', async (t) => {
  const metrics = createIngestMetrics(createRegistry())
  const logger = createLogger('silent')
  const answers = [
    { answer: async () => [null], reason: 'unknown_decimals' },
    {
      answer: async () => {
        throw new RpcErrorResponse('getMultipleAccounts', -32602, 'no')
      },
      reason: 'refused_decimals',
    },
  ]
  for (const { answer, reason } of answers) {
    const records = await decodeRecords(createDecoder(trackedNames('w')), withoutDecimals(), 7, {
      decimals: createMintDecimals({ getMultipleAccounts: answer }),
      refusals: createRefusals(0, { logger, metrics }),
      logger,
      stop: new AbortController().signal,
    })
    t.deepEqual(
      records.map((record) => [record.kind, 'reason' in record ? record.reason : null]),
      [
        ['undecoded', reason],
        ['balance', null],
        ['kept', null],
      ],
    )
  }
  const { values } = await metrics.refused.get()
  t.deepEqual(
    values.flatMap(({ labels, value }) => (value === 0 ? [] : [[labels.what, value]])),
    [['mint', 1]],
  )
})
