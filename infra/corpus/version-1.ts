import { isDeepStrictEqual } from 'node:util'
import type { Decoder } from '../../pipeline/decode/decoder.ts'
import { asVersion1 } from './as-version-1.ts'
import { readByEveryPath } from './paths.ts'
import type { RecordedTransaction } from './read-corpus.ts'

/**
 * The paths by which a recorded transaction, rewritten in version 1, does not give the records that
 * it gave as it was recorded.
 */
export function version1Differences(recorded: RecordedTransaction, decoder: Decoder): string[] {
  const { tx, blockTime } = recorded
  const expected = decoder.decode(tx, blockTime)
  const paths = readByEveryPath(asVersion1(recorded), tx.slot, tx.index)
  return [...paths].flatMap(([path, read]) => {
    if (read.kind === 'malformed') return `${path}: ${read.reason}`
    return isDeepStrictEqual(decoder.decode(read, blockTime), expected) ? [] : path
  })
}
