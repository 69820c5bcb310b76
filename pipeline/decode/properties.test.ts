import test from 'ava'
import fc from 'fast-check'
import { WSOL } from '../domain/quote.ts'
import type { DecodedRecord } from '../domain/slot.ts'
import {
  actions,
  amount,
  baseMint,
  exchanged,
  PUMPSWAP,
  type StoryAction,
  SWAP,
  silentAction,
  storyOf,
  swapAction,
  transferAction,
  unknownVenueAction,
} from '../testing/stories.ts'
import { concatBytes, trackedNames } from '../testing/transaction-story.ts'
import { balanceChanges, isNft } from './balance-changes.ts'
import { classifyFlows } from './classify-flows.ts'
import { decodeWallet } from './decode-wallet.ts'
import { createDecoder } from './decoder.ts'
import { QUOTES } from './mint-table.ts'
import { findNamedWallets } from './named-wallets.ts'
import { quoteRank } from './net-flows.ts'
import { reconcileQuotes } from './reconciliation.ts'
import { REGISTRY } from './registry.ts'
import { isTerminalFee } from './sol-transfers.ts'
import { readTransactionFacts } from './transaction-facts.ts'

function eventsOf(actions: readonly StoryAction[], ...names: readonly string[]) {
  const result = createDecoder(trackedNames('w', ...names)).decode(storyOf(actions).build(), 0)
  if (result.kind !== 'decoded') throw new Error('decimals are unknown')
  return result.records.filter((record) => 'eventIndex' in record && record.wallet === 1)
}

test('tokens and lamports are conserved in every transaction (B12, B13)', (t) => {
  fc.assert(
    fc.property(actions, (list) => {
      const wallets = trackedNames('w', 'friend', 'pool')
      const tx = storyOf(list).build()
      const named = findNamedWallets(tx, wallets)!
      const facts = readTransactionFacts(tx, named, wallets, REGISTRY)
      for (const wallet of named.wallets) {
        const decoded = decodeWallet(facts, wallet)
        const rest = balanceChanges(facts, wallet)
        for (const s of decoded.swaps) rest[s.mint]! -= s.side === 'buy' ? s.amount : -s.amount
        for (const moved of decoded.transfers) rest[moved.mint]! -= moved.amount
        for (let m = QUOTES; m < rest.length; m++) {
          if (!isNft(facts, m, rest[m]!)) t.is(rest[m], 0n)
        }
        for (const { change, ...parts } of reconcileQuotes(facts, wallet, decoded)) {
          t.is(
            Object.values(parts).reduce((sum, part) => sum + part, 0n),
            change,
          )
        }
      }
    }),
    { numRuns: 500 },
  )
})

test('wraps, rent, tips, NFTs and moves between own accounts change no event, in any position (B2, B3, B8a)', (t) => {
  const loud = fc.array(fc.oneof(swapAction, unknownVenueAction, transferAction), { maxLength: 5 })
  fc.assert(
    // Adds only one action without an event: two NFTs of one mint would count as a token amount.
    fc.property(loud, silentAction, fc.nat(5), (plain, added, index) => {
      const noisy = [...plain]
      noisy.splice(index, 0, added)
      t.deepEqual(eventsOf(noisy), eventsOf(plain))
    }),
    { numRuns: 500 },
  )
})

test('a failed transaction gives a balance record, unchanged token accounts and nothing else (B1, B14, K8)', (t) => {
  fc.assert(
    fc.property(actions, (list) => {
      const tx = storyOf(list).build({ failed: true })
      const result = createDecoder(trackedNames('w')).decode(tx, 0)
      const [balance, ...links] = result.kind === 'decoded' ? result.records : []
      const around = { lamports: tx.lamportsAfter(0), lamportsBefore: tx.lamportsBefore(0) }
      const recordFields = { slot: 1, txIndex: 0, wallet: 1, blockTime: 0 }
      t.deepEqual(balance, { kind: 'balance', ...recordFields, ...around } satisfies DecodedRecord)
      t.true(links.every((link) => link.kind === 'token_link' && link.before === link.after))
    }),
    { numRuns: 100 },
  )
})

test('swap instructions are independent: two stories together give the swaps of both (B9)', (t) => {
  const swaps = (list: readonly StoryAction[]) =>
    eventsOf(list).flatMap((event) => (event.kind === 'swap' ? { ...event, eventIndex: 0 } : []))
  fc.assert(
    fc.property(
      fc.array(swapAction, { maxLength: 3 }),
      fc.array(swapAction, { maxLength: 3 }),
      (one, two) => {
        t.deepEqual(swaps([...one, ...two]), [...swaps(one), ...swaps(two)])
      },
    ),
    { numRuns: 300 },
  )
})

test('the events of a wallet do not depend on which other wallets are tracked (A)', (t) => {
  fc.assert(
    fc.property(actions, (list) => {
      t.deepEqual(eventsOf(list, 'friend', 'pool', 'stranger'), eventsOf(list))
    }),
    { numRuns: 200 },
  )
})

test('amounts do not depend on the depth or the caller of a venue call (B4, B5)', (t) => {
  fc.assert(
    fc.property(
      exchanged,
      fc.array(fc.string({ minLength: 1, maxLength: 8 }), { maxLength: 5 }),
      (moves, callers) => {
        const nested: StoryAction = (story) => {
          const call = (depth: number): void => {
            const caller = callers[depth]
            if (caller === undefined) story.call(PUMPSWAP, SWAP, ['w'], () => moves(story))
            else story.call(`caller ${caller}`, Uint8Array.of(1), [], () => call(depth + 1))
          }
          call(0)
        }
        const amounts = (list: readonly StoryAction[]) =>
          eventsOf(list).map((event) => ({ ...event, programId: null }))
        const flat: StoryAction = (story) => story.call(PUMPSWAP, SWAP, ['w'], () => moves(story))
        t.deepEqual(amounts([nested]), amounts([flat]))
      },
    ),
    { numRuns: 200 },
  )
})

test('one account of a mint or several give the same events (B2)', (t) => {
  fc.assert(
    fc.property(baseMint, amount, amount, amount, (m, first, second, price) => {
      const sale =
        (parts: [string, bigint][]): StoryAction =>
        (story) => {
          story.transfer(`w ${m}`, `w second ${m}`, 500_000_000n)
          story.call(PUMPSWAP, SWAP, ['w'], () => {
            for (const [account, part] of parts) story.transfer(account, `pool ${m}`, part)
            story.transfer(`pool ${WSOL}`, `w ${WSOL}`, price)
          })
        }
      t.deepEqual(
        eventsOf([
          sale([
            [`w ${m}`, first],
            [`w second ${m}`, second],
          ]),
        ]),
        eventsOf([sale([[`w ${m}`, first + second]])]),
      )
    }),
    { numRuns: 200 },
  )
})

function largestOf(values: readonly bigint[]): bigint {
  return [...values].sort((a, b) => (a < b ? 1 : -1))[0] ?? 0n
}

const flow = fc.bigInt(-1_000_000_000n, 1_000_000_000n)

test('the quote of a swap is the opposing quote coin of the highest worth (B6)', (t) => {
  fc.assert(
    fc.property(fc.tuple(flow, flow, flow), flow, (quotes, coin) => {
      const outcome = classifyFlows([...quotes, coin], true, () => [0n, 0n, 0n])
      const opposing = quotes.flatMap((q, m) =>
        q !== 0n && q > 0n !== coin > 0n ? quoteRank(m, q < 0n ? -q : q) : [],
      )
      const quote = outcome.kind === 'swaps' ? outcome.swaps[0]!.quote : null
      if (coin === 0n || opposing.length === 0) return quote === null
      const best = largestOf(opposing)
      return quote !== null && quoteRank(quote.mint, quote.amount) === best
    }),
    { numRuns: 2000 },
  )
  t.pass()
})

test('token for token takes the first quote coin of the route worth at least 90% of the largest (B7)', (t) => {
  const through = fc.tuple(...[0, 1, 2].map(() => fc.bigInt(0n, 1_000_000_000n)))
  fc.assert(
    fc.property(
      through,
      fc.tuple(flow, flow, flow),
      amount,
      amount,
      (passed, quotes, sold, bought) => {
        const outcome = classifyFlows([...quotes, -sold, bought], false, () => passed)
        if (outcome.kind !== 'swaps' || outcome.swaps.length !== 2) return false
        const [sell, buy] = outcome.swaps
        const ranks = passed.map((a, m) => quoteRank(m, a))
        const largest = largestOf(ranks)
        const first = ranks.findIndex((worth) => 10n * worth >= 9n * largest)
        const quote = largest === 0n ? null : { mint: first, amount: passed[first]! }
        t.deepEqual(
          [sell, buy],
          [
            { side: 'sell', mint: 3, amount: sold, quote },
            { side: 'buy', mint: 4, amount: bought, quote },
          ],
        )
        return true
      },
    ),
    { numRuns: 1000 },
  )
})

test('flows without an opposing quote are swaps only if the wallet signed and gave something (B6a, B8)', (t) => {
  const flows = fc.array(fc.oneof(fc.constant(0n), flow), { minLength: 3, maxLength: 8 })
  fc.assert(
    fc.property(flows, fc.boolean(), (list, signed) => {
      const outcome = classifyFlows(list, signed, () => [0n, 0n, 0n])
      const quotes = list.slice(0, QUOTES)
      const bases = list.slice(QUOTES).filter((f) => f !== 0n)
      const gave = list.some((f) => f < 0n)
      const opposed =
        bases.length === 1 && quotes.some((q) => q !== 0n && q > 0n !== bases[0]! > 0n)
      const pair = bases.length === 2 && bases[0]! > 0n !== bases[1]! > 0n
      if (bases.length === 0) {
        const both = quotes.some((q) => q > 0n) && quotes.some((q) => q < 0n)
        return outcome.kind === (both ? 'conversion' : 'none')
      }
      const expected = opposed
        ? 1
        : pair
          ? 2
          : !signed
            ? 0
            : bases.length === 1
              ? Number(bases[0]! < 0n)
              : gave
                ? bases.length
                : 0
      return expected === 0
        ? outcome.kind === 'none'
        : outcome.kind === 'swaps' && outcome.swaps.length === expected
    }),
    { numRuns: 3000 },
  )
  t.pass()
})

test("a terminal's fee is at most 5% of the SOL swapped, where a pair counts once (B13a)", (t) => {
  const sol = (a: bigint) => ({
    side: 'buy' as const,
    mint: 3,
    amount: 1n,
    quote: { mint: 0, amount: a },
  })
  fc.assert(
    fc.property(amount, fc.array(amount, { maxLength: 4 }), fc.boolean(), (sent, quotes, pairs) => {
      const spans = quotes.map((a) => (pairs ? [sol(a), sol(a)] : [sol(a)]))
      const swapped = quotes.reduce((sum, a) => sum + a, 0n)
      return isTerminalFee(sent, spans) === (swapped > 0n && sent * 100n <= swapped * 5n)
    }),
  )
  t.pass()
})

test('an unknown program changes nothing of a swap but the program address (B10)', (t) => {
  fc.assert(
    fc.property(
      exchanged,
      fc.string({ minLength: 1, maxLength: 8 }),
      fc.uint8Array({ maxLength: 20 }),
      (moves, name, data) => {
        const made =
          (program: string, bytesOf: Uint8Array): StoryAction =>
          (story) =>
            story.call(program, bytesOf, ['w'], () => moves(story))
        const amounts = (list: readonly StoryAction[]) =>
          eventsOf(list).map((event) => ({ ...event, programId: null }))
        t.deepEqual(
          amounts([made(`program ${name}`, concatBytes(data))]),
          amounts([made('a new venue', Uint8Array.of(1))]),
        )
      },
    ),
    { numRuns: 200 },
  )
})
