import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { DECODER_VERSION } from '../domain/decoder-version.ts'
import type { Transaction } from '../domain/transaction.ts'
import { createWallets, type Wallets } from '../domain/wallets.ts'
import { feePayers, readCorpus } from '../testing/corpus.ts'
import { actions, storyOf } from '../testing/stories.ts'
import { trackedNames } from '../testing/transaction-story.ts'
import { createDecoder } from './decoder.ts'
import { PROGRAMS } from './registry.ts'
import { SHIPPED_LABELS } from './shipped-labels.ts'
import { TIP_ACCOUNTS } from './tips.ts'

/** Output of the decoder for known transactions when its version was last raised. */
interface Recorded {
  readonly version: number
  /** Hash of the names, addresses and kinds of programs, of the labels and of the tip accounts. */
  readonly programs: string
  readonly stories: Digest
  readonly corpus: Digest
}

interface Digest {
  /** Hash of the transactions. Results for other transactions are not compared. */
  readonly inputs: string
  readonly answers: string
}

const FILE = join(import.meta.dirname, '../../../pipeline/decode/decoder-version.json')
const recorded: Recorded = JSON.parse(readFileSync(FILE, 'utf8')) // written below
const corpus = readCorpus()
const onCorpus = corpus.length > 0 ? test.serial : test.serial.skip

/**
 * Command that rewrites the file. Run it after the version was raised, or after the stories or the
 * corpus changed.
 */
const RECORD = 'RECORD_DECODER_VERSION=1 npx ava dist/pipeline/decode/decoder-version.test.js'
const isRecording = process.env.RECORD_DECODER_VERSION === '1'

const RAISE =
  'the decoder returns other records for the same transactions: raise DECODER_VERSION (pipeline/domain/decoder-version.ts), say in the changelog what changes, and run\n  ' +
  RECORD

test.serial("a change of the decoder's results raises its version: table of programs (K4)", (t) => {
  const kinds = PROGRAMS.map(({ name, id, kind }) => [name, id, kind])
  const labels = SHIPPED_LABELS.map(({ name, programId }) => [name, programId])
  const programs = sha256(JSON.stringify([kinds, labels, TIP_ACCOUNTS]))
  check(t, 'programs', programs, recorded.programs !== programs)
})

test.serial("a change of the decoder's results raises its version: stories (K4)", (t) => {
  const txs = fc.sample(actions, { seed: 1, numRuns: 300 }).map((list) => storyOf(list).build())
  const digest = digestOf(txs, trackedNames('w', 'friend'))
  if (!isRecording && digest.inputs !== recorded.stories.inputs)
    t.fail(`the stories differ from the recorded ones: with an unchanged decoder, run\n  ${RECORD}`)
  check(t, 'stories', digest, isOther(digest, recorded.stories))
})

onCorpus(
  "a change of the decoder's results raises its version: recorded transactions (K4)",
  (t) => {
    const digest = digestOf(
      corpus.map(({ tx }) => tx),
      createWallets(feePayers(corpus)),
    )
    if (digest.inputs !== recorded.corpus.inputs)
      t.log('not compared: the corpus changed since the version was last raised')
    check(t, 'corpus', digest, isOther(digest, recorded.corpus))
  },
)

function check<Key extends keyof Recorded>(
  t: {
    is(a: unknown, b: unknown, message?: string): void
    false(a: boolean, message?: string): void
  },
  key: Key,
  now: Recorded[Key],
  isChanged: boolean,
): void {
  const before: Recorded = JSON.parse(readFileSync(FILE, 'utf8'))
  if (!isRecording) {
    t.false(isChanged, RAISE)
    t.is(recorded.version, DECODER_VERSION, `DECODER_VERSION was raised: run\n  ${RECORD}`)
    return
  }
  // Compares with the file as it was when this run began: the other tests write it too.
  t.false(isChanged && recorded.version === DECODER_VERSION, RAISE)
  const after = { ...before, version: DECODER_VERSION, [key]: now }
  writeFileSync(FILE, `${JSON.stringify(after, null, 2)}\n`)
}

function isOther(now: Digest, before: Digest): boolean {
  return now.inputs === before.inputs && now.answers !== before.answers
}

function digestOf(txs: readonly Transaction[], wallets: Wallets): Digest {
  const decoder = createDecoder(wallets)
  const answers = txs.map((tx) => decoder.decode(tx, 1, () => 6))
  const text = JSON.stringify(answers, (_, value) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
  return { inputs: sha256(...txs.map((tx) => tx.encoded())), answers: sha256(text) }
}

function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
