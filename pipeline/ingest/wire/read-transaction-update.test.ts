import { SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import test from 'ava'
import fc from 'fast-check'
import { readCorpus } from '../../testing/corpus.ts'
import { plain, toGrpcUpdate } from '../../testing/encodings.ts'
import { normalizeGrpc } from './normalize-grpc.ts'
import { readTransactionUpdate } from './read-transaction-update.ts'

/** The results of the package's codec and of this reader for the same bytes. */
function bothWays(bytes: Uint8Array) {
  const ours = readTransactionUpdate(bytes)
  const theirs = SubscribeUpdate.decode(bytes).transaction
  return {
    ours: ours === null ? null : plain(normalizeGrpc(ours)),
    theirs: theirs === undefined ? null : plain(normalizeGrpc(theirs)),
  }
}

// The generated type of a partial message does not accept literals.
const encode = (update: object) =>
  SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update as never)).finish()

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String)
const u32 = fc.integer({ min: 0, max: 0xffff_ffff })
const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const instruction = fc.record({
  programIdIndex: fc.integer({ min: 0, max: 1 }),
  accounts: fc.uint8Array({ maxLength: 4, max: 1 }),
  data: fc.uint8Array({ maxLength: 20 }),
})
const tokenBalance = fc.record({
  accountIndex: fc.integer({ min: 0, max: 1 }),
  mint: fc.constant('So11111111111111111111111111111111111111112'),
  owner: fc.constantFrom('', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
  programId: fc.constant('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
  uiTokenAmount: fc.record({
    amount: u64,
    decimals: fc.integer({ min: 0, max: 255 }),
    uiAmount: fc.double({ noNaN: true }),
    uiAmountString: fc.string(),
  }),
})
const update = fc.record({
  filters: fc.array(fc.string()),
  createdAt: fc.constant(new Date(1_700_000_000_000)),
  transaction: fc.record({
    slot: fc.integer({ min: 0, max: 2 ** 40 }).map(String),
    transaction: fc.record({
      signature: fc.uint8Array({ minLength: 64, maxLength: 64 }),
      isVote: fc.boolean(),
      index: fc.integer({ min: 0, max: 3000 }).map(String),
      transaction: fc.record({
        signatures: fc.array(fc.uint8Array({ minLength: 64, maxLength: 64 }), { maxLength: 2 }),
        message: fc.record({
          header: fc.record({ numRequiredSignatures: fc.integer({ min: 1, max: 2 }) }),
          accountKeys: fc.array(key, { minLength: 2, maxLength: 2 }),
          recentBlockhash: key,
          instructions: fc.array(instruction, { maxLength: 3 }),
          versioned: fc.boolean(),
          config: fc.option(
            fc.record(
              { priorityFee: u64, computeUnitLimit: u32, heapSize: u32 },
              { requiredKeys: [] },
            ),
            { nil: undefined },
          ),
        }),
      }),
      meta: fc.record({
        err: fc.option(fc.record({ err: fc.uint8Array({ maxLength: 4 }) }), { nil: undefined }),
        fee: u64,
        preBalances: fc.array(u64, { minLength: 2, maxLength: 2 }),
        postBalances: fc.array(u64, { minLength: 2, maxLength: 2 }),
        innerInstructions: fc.array(
          fc.record({
            index: fc.integer({ min: 0, max: 2 }),
            instructions: fc.array(
              instruction.chain((one) =>
                fc
                  .option(fc.integer({ min: 2, max: 5 }), { nil: undefined })
                  .map((stackHeight) => ({ ...one, stackHeight })),
              ),
              { maxLength: 3 },
            ),
          }),
          { maxLength: 2 },
        ),
        innerInstructionsNone: fc.boolean(),
        logMessages: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 3 }),
        logMessagesNone: fc.boolean(),
        preTokenBalances: fc.array(tokenBalance, { maxLength: 3 }),
        postTokenBalances: fc.array(tokenBalance, { maxLength: 3 }),
        computeUnitsConsumed: u64,
      }),
    }),
  }),
})

test("any transaction reads as the package's codec reads it", (t) => {
  fc.assert(
    fc.property(update, (one) => {
      const { ours, theirs } = bothWays(encode(one))
      t.deepEqual(ours, theirs)
    }),
  )
})

test('bytes that are cut short or changed are read without throwing', (t) => {
  fc.assert(
    fc.property(update, fc.nat(), fc.integer({ min: 0, max: 255 }), (one, at, value) => {
      const bytes = encode(one)
      readTransactionUpdate(bytes.subarray(0, at % bytes.length))
      const changed = Uint8Array.from(bytes)
      changed[at % bytes.length] = value
      const read = readTransactionUpdate(changed)
      if (read !== null) normalizeGrpc(read)
      t.pass()
    }),
    { numRuns: 300 },
  )
})

test('an update without a transaction reads as null', (t) => {
  t.is(readTransactionUpdate(encode({ ping: {} })), null)
  t.is(readTransactionUpdate(new Uint8Array()), null)
})

const recorded = readCorpus().filter(({ encoding }) => encoding === 'json')
const onCorpus = recorded.length > 0 ? test : test.skip
onCorpus("recorded transactions read as the package's codec reads them", (t) => {
  for (const { json, tx } of recorded) {
    const transaction = toGrpcUpdate(json, tx.slot, tx.index)
    const { ours, theirs } = bothWays(encode({ filters: ['wallets-1'], transaction }))
    t.deepEqual(ours, theirs)
  }
})
