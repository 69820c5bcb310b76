import assert from 'node:assert/strict'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { compareEventKeys, type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import { createPerturb } from '../../pipeline/domain/perturbation.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { createCursorCodec } from '../cursor.ts'
import { KeptHistories } from '../rows/kept-histories.ts'
import { KnownFacts } from '../rows/known-facts.ts'
import { cursorKeys } from '../testing/cursor-keys.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { aSwapRow, MINT } from '../testing/rows.ts'
import type { Resource, ResourceDeps } from './resource.ts'
import { tokenSwaps } from './token-swaps.ts'
import { trades } from './trades.ts'
import { walletTrades } from './wallet-trades.ts'

/*
 * Paging by cursor while swaps are stored, over a real store (contract 4.3, rule D4). Each swap has
 * a unique name as its `program`, so that pages can be compared with the rows.
 */

const codec = createCursorCodec(cursorKeys(7))
/** Served times differ from true ones, as with `PRIVACY_SALT`. */
const perturb = createPerturb('a salt of a test')
const START = 1_700_000_000
const JUP = 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN'
let opened: TestStore
let store: Store

test.before(async () => {
  opened = await openStore()
  store = opened.store
  await store.command('SYSTEM STOP MERGES swaps')
})
test.after.always(() => opened.remove())

/** A list of swaps: its resource, with what it is asked for, and what it has. */
interface List {
  readonly create: (deps: ResourceDeps) => unknown
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly has: (swap: Kept) => boolean
}

interface Kept extends EventKey {
  readonly mint: string
  readonly side: 'buy' | 'sell'
  readonly blockTime: number
  readonly name: string
  readonly version: number
  readonly isDeleted: boolean
}

/**
 * Changes of the store between two pages: new swaps at the head, late swaps anywhere, and known
 * swaps that are stored again, corrected or deleted.
 */
const aChange = fc.record({
  kind: fc.constantFrom('head', 'head', 'late', 'again', 'corrected', 'deleted'),
  slot: fc.integer({ min: 1, max: 30 }),
  wallet: fc.integer({ min: 1, max: 3 }),
  isOfMint: fc.boolean(),
  pick: fc.nat(),
})
const aWalk = fc.record({
  first: fc.array(aChange, { maxLength: 60, size: 'max' }),
  steps: fc.array(
    fc.record({
      limit: fc.integer({ min: 1, max: 5 }),
      changes: fc.array(aChange, { maxLength: 6, size: 'max' }),
    }),
    { minLength: 1, maxLength: 12 },
  ),
})
type Change = Parameters<typeof applyChanges>[1][number]

class Stored {
  readonly swaps = new Map<string, Kept>()
  head = 30
  #names = 0

  name(): string {
    return `swap ${++this.#names}`
  }

  /** Swaps in force that a list has, newest first, older than `before`. */
  list({ has }: List, before: EventKey | null): Kept[] {
    return [...this.swaps.values()]
      .filter((swap) => !swap.isDeleted && has(swap))
      .filter((swap) => before === null || compareEventKeys(swap, before) < 0)
      .sort((a, b) => compareEventKeys(b, a))
  }
}

async function applyChanges(
  stored: Stored,
  changes: readonly {
    readonly kind: string
    readonly slot: number
    readonly wallet: number
    readonly isOfMint: boolean
    readonly pick: number
  }[],
): Promise<void> {
  const rows = changes.map((change) => {
    const swap = changed(stored, change)
    stored.swaps.set(eventKeyText(swap), swap)
    return aSwapRow(swap.slot, {
      tx_index: swap.txIndex,
      wallet: swap.wallet,
      event_index: swap.eventIndex,
      base_mint: swap.mint,
      side: swap.side,
      block_time: swap.blockTime,
      program: swap.name,
      version: swap.version,
      is_deleted: swap.isDeleted ? 1 : 0,
    })
  })
  await store.insert('swaps', rows)
}

function changed(stored: Stored, { kind, slot, wallet, isOfMint, pick }: Change): Kept {
  const mint = isOfMint ? MINT : JUP
  const side = pick % 2 === 0 ? 'buy' : 'sell'
  const known = [...stored.swaps.values()]
  const picked = known[pick % Math.max(1, known.length)]
  if (kind !== 'head' && kind !== 'late' && picked !== undefined) {
    if (kind === 'again') return picked
    const version = picked.version + 1
    return kind === 'deleted'
      ? { ...picked, version, isDeleted: true }
      : { ...picked, mint, side, version, name: stored.name(), isDeleted: false }
  }
  const key = {
    slot: kind === 'head' ? ++stored.head : slot,
    txIndex: pick % 3,
    wallet,
    eventIndex: stored.swaps.size, // unique
  }
  return {
    ...key,
    mint,
    side,
    blockTime: START + key.slot,
    name: stored.name(),
    version: 0,
    isDeleted: false,
  }
}

/** Pages through a list to its end. Every page must equal the rows after the previous page. */
async function walk(
  t: ExecutionContext,
  { first, steps }: { first: Change[]; steps: { limit: number; changes: Change[] }[] },
  list: List,
): Promise<void> {
  await store.command('TRUNCATE TABLE swaps')
  const stored = new Stored()
  await applyChanges(stored, first)
  const resource = resourceOf(stored, list)
  const atStart = stored.list(list, null)
  const seen: string[] = []
  let before: EventKey | null = null
  let cursor: string | null = null
  for (let at = 0; ; at++) {
    const { limit, changes } = steps[at] ?? { limit: 12, changes: [] }
    const rest: Kept[] = stored.list(list, before)
    const page: Page = await ask(resource, list, { limit, cursor })
    t.deepEqual(
      page.items.map(({ program }) => program),
      rest.slice(0, limit).map(({ name }) => name),
    )
    t.is(page.has_more, rest.length > limit)
    t.is(page.next_cursor === null, !page.has_more)
    seen.push(...rest.slice(0, limit).map(eventKeyText))
    if (page.next_cursor === null) break
    cursor = page.next_cursor
    before = rest[limit - 1] ?? null
    await applyChanges(stored, changes)
  }
  t.is(new Set(seen).size, seen.length, 'a swap was repeated')
  const skipped = atStart.filter((swap) => !seen.includes(eventKeyText(swap)))
  t.true(
    skipped.every((swap) => {
      const now = stored.swaps.get(eventKeyText(swap))
      return now === undefined || now.isDeleted || !list.has(now) || isMoved(swap, now)
    }),
    'a swap was skipped',
  )
}

/** Whether a correction has moved a swap to another mint or side, perhaps there and back. */
const isMoved = (before: Kept, now: Kept) => now.version > before.version

const NONE_HELD = { rows: [], total: 0 }

interface Page {
  readonly items: readonly { readonly program: string }[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

function resourceOf(
  stored: Stored,
  { create }: Pick<List, 'create'>,
  recentSwaps: ResourceDeps['recentSwaps'] = { page: () => null },
): Resource {
  const deps: ResourceDeps = {
    store,
    perturb,
    position: {
      stored: () => ({ slot: stored.head, blockTime: 1_700_000_000 }),
      walletCount: () => 3,
      wasRedecoded: () => true,
      breaks: () => ({ open: 0, unexplained: 0 }),
      start: async () => {},
      stop: async () => {},
    },
    cursors: codec,
    epoch: 0,
    metricsOf: () => undefined,
    leaderboard: { page: () => assert.fail('never called') },
    recentSwaps,
    knownFacts: new KnownFacts(),
    histories: new KeptHistories(() => store),
    openPositions: {
      held: () => NONE_HELD,
      holdings: () => NONE_HELD,
      mostHeld: () => [],
      holdersOf: () => 0,
      marker: 0,
      ofWallet: () => assert.fail('never called'),
      row: () => assert.fail('never called'),
      firstTradeTime: () => assert.fail('never called'),
      changedAt: () => assert.fail('never called'),
    },
  }
  // Called through its own schema below.
  return create(deps) as Resource
}

async function ask(
  resource: Resource,
  { params = {}, query = {} }: List,
  { limit, cursor }: { limit: number; cursor: string | null },
): Promise<Page> {
  const input = resource.input.parse({
    params,
    query: { ...query, limit: String(limit), ...(cursor !== null && { cursor }) },
    body: {},
  })
  const { body } = await resource.handle(input as never, { store })
  return resource.answer.parse(body) as Page
}

const servedTime = (swap: Kept) => swap.blockTime - (perturb?.(swap).earlierSeconds ?? 0)

const LISTS: Readonly<Record<string, List>> = {
  '/trades': { create: trades, has: () => true },
  '/tokens/{mint}/swaps': {
    create: tokenSwaps,
    params: { mint: MINT },
    has: ({ mint }) => mint === MINT,
  },
  '/wallets/{alias}/trades': {
    create: walletTrades,
    params: { alias: 'W2' },
    has: ({ wallet }) => wallet === 2,
  },
  '/trades of a wallet and side': {
    create: trades,
    query: { wallet: 'W1', side: 'sell' },
    has: ({ wallet, side }) => wallet === 1 && side === 'sell',
  },
  '/trades of a mint since a time': {
    create: trades,
    query: { mint: MINT, from: String(START + 12) },
    has: (swap) => swap.mint === MINT && servedTime(swap) >= START + 12,
  },
  '/trades between two times': {
    create: trades,
    query: { from: String(START + 5), to: String(START + 25) },
    has: (swap) => servedTime(swap) >= START + 5 && servedTime(swap) < START + 25,
  },
}

for (const [path, list] of Object.entries(LISTS))
  test.serial(
    `paging through ${path} skips and repeats nothing, whatever is stored in the meantime`,
    async (t) => {
      await fc.assert(
        fc.asyncProperty(aWalk, (given) => walk(t, given, list)),
        { numRuns: 25 },
      )
    },
  )

test('the head cursor belongs to the marker of the page, even if the marker moves during the read (rule F4)', async (t) => {
  const newest = { slot: 9, txIndex: 0, wallet: 1, eventIndex: 0 }
  const mark = { epoch: 0, passedSlot: 12, partition: 0, offset: 5 }
  const stored = new Stored()
  stored.head = 11
  const resource = resourceOf(stored, LISTS['/trades']!, {
    page() {
      stored.head = 13
      return { swaps: [], slot: 13, newest, late: { unsettled: new Set(), newest: mark } }
    },
  })
  const input = resource.input.parse({ params: {}, query: {}, body: {} })
  const { headers } = await resource.handle(input as never, { store })
  t.deepEqual(codec.decodePosition(headers?.['X-Head-Cursor'] ?? ''), {
    key: newest,
    late: { epoch: 0, passedSlot: 13, offsets: [] },
  })
})
