import test from 'ava'
import fc from 'fast-check'
import type { Address } from '../../domain/address.ts'
import type { HistoryPosition, HistoryRange } from '../../domain/history.ts'
import type { SignatureInfo } from './solana-rpc.ts'
import { walkHistory } from './wallet-history.ts'

// In these tests accounts are small numbers: 0 is the wallet, the others are its token accounts.

const WALLET = addressOf(0)

interface Transaction {
  readonly slot: number
  readonly failed: boolean
  /** The accounts that the transaction names. */
  readonly names: readonly number[]
}

function addressOf(account: number): Address {
  return `account ${account}` as Address // no code under test decodes it
}

/** A server with transactions, newest first. The page lengths cycle through `lengths`. */
function serverOf(chain: readonly Transaction[], lengths: readonly number[]) {
  const requests: string[] = []
  return {
    requests,
    async getSignaturesForAddress(
      address: Address,
      page: { readonly limit: number; readonly before?: string | undefined },
    ): Promise<SignatureInfo[]> {
      requests.push(address)
      const from = page.before === undefined ? 0 : Number(page.before) + 1
      const length = lengths[requests.length % lengths.length] ?? page.limit
      return chain
        .map((tx, at) => ({ ...tx, at }))
        .slice(from)
        .filter(({ names }) => names.some((account) => addressOf(account) === address))
        .slice(0, Math.min(length, page.limit))
        .map(({ at, slot, failed }) => ({ signature: String(at), slot, failed, blockTime: null }))
    },
  }
}

interface Scene {
  readonly chain: readonly Transaction[]
  readonly lengths: readonly number[]
  readonly range: HistoryRange
  readonly chunk: number
  readonly page: number
  /**
   * Closed token accounts: RPC does not list them. Their newest transaction names the wallet too.
   */
  readonly closed: ReadonlySet<number>
}

const ACCOUNTS = 5

const scenes: fc.Arbitrary<Scene> = fc
  .record({
    steps: fc.array(
      fc.record({
        down: fc.integer({ min: 0, max: 2 }),
        failed: fc.boolean(),
        names: fc.uniqueArray(fc.integer({ min: 0, max: ACCOUNTS }), { minLength: 1 }),
      }),
      { maxLength: 60 },
    ),
    lengths: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 4 }),
    range: fc.record({
      fromSlot: fc.option(fc.integer({ min: 940, max: 1000 })),
      toSlot: fc.constant(null),
    }),
    chunk: fc.integer({ min: 1, max: 12 }),
    page: fc.integer({ min: 1, max: 6 }),
    closed: fc.uniqueArray(fc.integer({ min: 1, max: ACCOUNTS })),
  })
  .map(({ steps, closed, ...rest }) => {
    let slot = 1000
    const met = new Set<number>()
    const chain = steps.map(({ down, failed, names }) => {
      slot -= down
      const closes = names.some((account) => closed.includes(account) && !met.has(account))
      for (const account of names) met.add(account)
      const isNamed = closes && !names.includes(0)
      return { slot, failed: failed && !closes, names: isNamed ? [0, ...names] : names }
    })
    return { ...rest, chain, closed: new Set(closed) }
  })

/** Reads at most `chunks` chunks. Returns them with the final position and token accounts. */
async function walk(
  { chain, lengths, closed, ...options }: Scene,
  chunks: number,
  after: HistoryPosition | null = null,
  known: Iterable<Address> = [],
) {
  const open = Array.from({ length: ACCOUNTS }, (_, at) => at + 1).filter((one) => !closed.has(one))
  const accounts = [...known, ...open.map(addressOf)]
  const history = walkHistory(
    { ...options, wallet: WALLET, accounts, after, minContextSlot: null },
    serverOf(chain, lengths),
  )
  const walked: number[][] = []
  let saidAtEnd = false
  while (walked.length < chunks) {
    let infos = await history.next()
    if (infos === null) break
    if (saidAtEnd) throw new Error('something came after the end')
    const found: number[] = []
    while (infos.length > 0) {
      const named = infos.flatMap(({ signature }) => chain[Number(signature)]?.names ?? [])
      found.push(...infos.map(({ signature }) => Number(signature)))
      infos = await history.follow(named.filter((account) => account > 0).map(addressOf))
    }
    walked.push(found)
    saidAtEnd = history.isAtEnd
  }
  return { walked, position: history.position, accounts: history.accounts }
}

/** Indexes in the chain of the transactions that the history must return. */
function due({ chain, range }: Scene): number[] {
  return chain.flatMap(({ slot, failed, names }, at) =>
    slot >= (range.fromSlot ?? 0) && (names.includes(0) || !failed) ? [at] : [],
  )
}

const ascending = (a: number, b: number) => a - b

test('every transaction is returned once, in whole slots, newest first, for any page lengths', async (t) => {
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      const { walked } = await walk(scene, Infinity)
      t.deepEqual(walked.flat().sort(ascending), due(scene))
      const slots = walked.map((indexes) => indexes.map((at) => scene.chain[at]?.slot ?? 0))
      slots.forEach((chunk, at) => {
        const next = slots[at + 1]
        if (next) t.true(Math.min(...chunk) > Math.max(...next))
      })
    }),
  )
  t.pass()
})

test('a walk resumes after any chunk and returns the rest', async (t) => {
  await fc.assert(
    fc.asyncProperty(scenes, fc.integer({ min: 1, max: 5 }), async (scene, chunks) => {
      const first = await walk(scene, chunks)
      const rest = await walk(scene, Infinity, first.position, first.accounts)
      t.deepEqual([...first.walked, ...rest.walked].flat().sort(ascending), due(scene))
    }),
  )
  t.pass()
})

test('token accounts with short histories take two requests each and do not make chunks smaller', async (t) => {
  const chain = Array.from({ length: 200 }, (_, at) => ({
    slot: 1000 - at,
    failed: false,
    names: [0, 1 + (at >> 2)],
  }))
  const server = serverOf(chain, [1000])
  const accounts = Array.from({ length: 50 }, (_, at) => addressOf(1 + at))
  const range = { fromSlot: null, toSlot: null }
  const history = walkHistory(
    { wallet: WALLET, accounts, range, after: null, minContextSlot: null },
    server,
  )
  t.is((await history.next())?.length, 200)
  t.true(history.isAtEnd)
  t.is(await history.next(), null)
  t.is(server.requests.length, 2 * 51)
})
