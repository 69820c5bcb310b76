import { createHash } from 'node:crypto'
import test from 'ava'
import bs58 from 'bs58'
import fc from 'fast-check'
import type { Address } from '../../pipeline/domain/address.ts'
import type { Row } from '../../pipeline/store/store.ts'
import { insertMints } from '../../pipeline/store/tables/mints.ts'
import { ask, creditsOf } from '../testing/ask.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { aPositionRow, insertWallets } from '../testing/rows.ts'
import { startApi } from '../testing/start-api.ts'

/*
 * Whole responses of `GET /search` (rule L17).
 */

let opened: TestStore
test.beforeEach(async () => {
  opened = await openStore()
})
test.afterEach.always(() => opened.remove())

/** The address of a token that tests number. */
const mintOf = (n: number) =>
  bs58.encode(createHash('sha256').update(String(n)).digest()) as Address // of 32 bytes

interface NamedMint {
  readonly n: number
  readonly symbol: string
  readonly name: string
  readonly version?: number
}

const store = (tokens: readonly NamedMint[]) =>
  insertMints(
    opened.store,
    tokens.map(({ n, symbol, name, version = 1 }) => ({
      mint: mintOf(n),
      token_program: 'spl_token',
      decimals: 6,
      supply: '1000000000',
      symbol,
      name,
      metadata: 'metaplex',
      fetched_at: 1,
      asked: 1,
      ask_again_at: null,
      version,
    })),
  )
/** Lets wallets 1 to `holders` hold a token. */
const hold = (n: number, holders: number): Row[] =>
  Array.from({ length: holders }, (_, at) => aPositionRow(at + 1, mintOf(n)))

async function start(t: { teardown(end: () => Promise<void>): void }) {
  await insertWallets(opened.store, 130)
  const api = await startApi(opened.store)
  t.teardown(() => api.close())
  const { key } = await api.customer(10_000)
  await api.writer.moveTo(100_000)
  const get = (q: string) => ask(api, `/search?q=${encodeURIComponent(q)}`, key)
  const found = async (q: string) => {
    const items = (await get(q)).body.items as Record<string, unknown>[]
    return items.map(({ match, wallet, token, holders }) => {
      const { address, symbol } = (token ?? {}) as Record<string, string>
      return `${match} ${wallet ?? `${symbol} ${numberOf(address)} ${holders}`}`
    })
  }
  return { api, get, found }
}
const numberOf = (address: string | undefined) =>
  Array.from({ length: 100 }, (_, n) => n).find((n) => mintOf(n) === address)

test.serial('wallets are found by alias, the exact one first, at most five', async (t) => {
  const { found } = await start(t)
  t.deepEqual(
    {
      exact: await found('W7'),
      lower: await found(' w12 '),
      first: await found('W1'),
      all: await found('W'),
      none: await found('W131'),
      notAliases: [...(await found('W0')), ...(await found('W01')), ...(await found('1'))],
    },
    {
      exact: ['exact W7', 'prefix W70', 'prefix W71', 'prefix W72', 'prefix W73'],
      lower: ['exact W12', 'prefix W120', 'prefix W121', 'prefix W122', 'prefix W123'],
      first: ['exact W1', 'prefix W10', 'prefix W11', 'prefix W12', 'prefix W13'],
      all: ['prefix W1', 'prefix W2', 'prefix W3', 'prefix W4', 'prefix W5'],
      none: [],
      notAliases: [],
    },
  )
})

test.serial(
  'tokens are found by address, symbol and words of their name, most held first',
  async (t) => {
    await store([
      { n: 1, symbol: 'BONK', name: 'Bonk' },
      { n: 2, symbol: 'Bonkers', name: 'The Bonkers' },
      { n: 3, symbol: 'bonkai', name: '' },
      { n: 4, symbol: 'DOG', name: 'a dog, Bonk by name' },
      { n: 5, symbol: 'bonk', name: 'a copy' },
      { n: 6, symbol: 'W1', name: 'a wallet?' },
      { n: 7, symbol: '', name: 'w1 FAN' },
      { n: 8, symbol: '💰', name: '犬 coin' },
      { n: 9, symbol: 'OLD', name: 'old name' },
    ])
    await store([{ n: 9, symbol: 'NEW', name: 'new name', version: 2 }])
    await opened.store.insert('positions', [...hold(3, 3), ...hold(4, 9), ...hold(5, 2)])
    const { get, found } = await start(t)
    t.deepEqual(
      {
        bonk: await found('bonk'),
        words: await found('BONK dog'),
        part: await found('onk'),
        address: await found(mintOf(9)),
        old: await found('old'),
        now: await found('new'),
        unicode: [...(await found('💰')), ...(await found('犬'))],
        punctuation: [...(await found('%')), ...(await found(' '))],
        mixed: await found('w1'),
      },
      {
        bonk: [
          'exact bonk 5 2',
          'exact BONK 1 0',
          'prefix bonkai 3 3',
          'prefix Bonkers 2 0',
          'word DOG 4 9',
        ],
        words: ['word DOG 4 9'],
        part: [],
        address: ['exact NEW 9 0'],
        old: [],
        now: ['exact NEW 9 0'],
        unicode: ['exact 💰 8 0', 'word 💰 8 0'],
        punctuation: [],
        mixed: [
          'exact W1',
          'exact W1 6 0',
          ...['prefix W10', 'prefix W11', 'prefix W12', 'prefix W13'],
          'word null 7 0',
        ],
      },
    )
    const answer = await get('copy')
    t.deepEqual(answer.body, {
      items: [
        {
          kind: 'token',
          match: 'word',
          wallet: null,
          token: { address: mintOf(5), symbol: 'bonk', name: 'a copy' },
          holders: 2,
        },
      ],
    })
    t.is(creditsOf(answer)[0], '1')
  },
)

test.serial('the address of a tracked wallet is answered like any other address', async (t) => {
  const [tracked, other] = [mintOf(1000), mintOf(1001)]
  await opened.store.insert('tracked_wallets', [{ wallet: 131, address: tracked, added_at: 1 }])
  const { get, found } = await start(t)
  t.deepEqual(await found('W131'), ['exact W131'])
  const answers = [await get(tracked), await get(other)].map(({ status, headers, body }) => ({
    status,
    body,
    headers: [...headers].filter(([name]) => !OWN_FIELDS.has(name)),
  }))
  t.deepEqual(answers[0]?.body, { items: [] })
  t.deepEqual(answers[0], answers[1])
})
/** Fields that differ between any two answers. */
const OWN_FIELDS = new Set(['date', 'x-request-id', 'ratelimit', 'x-credits-remaining'])

const aText = fc.string({ unit: fc.constantFrom('a', 'A', 'b', ' ', '-', 'é'), maxLength: 4 })
test.serial('a search finds what comparing every token finds', async (t) => {
  const tokens = fc.sample(fc.record({ symbol: aText, name: aText }), { numRuns: 60, seed: 5 })
  const named = tokens.map((token, n) => ({ ...token, n }))
  await store(named)
  await opened.store.insert(
    'positions',
    named.flatMap(({ n }) => hold(n, n % 4)),
  )
  const { found } = await start(t)
  let hits = 0
  await fc.assert(
    fc.asyncProperty(
      aText.filter((text) => text !== ''),
      async (text) => {
        const wanted = text.trim().replace(/[ABW]/g, (letter) => letter.toLowerCase())
        const expected = named
          .map(({ n, symbol, name }) => {
            const own = symbol.replace(/[AB]/g, (letter) => letter.toLowerCase())
            const words = name.replace(/[AB]/g, (letter) => letter.toLowerCase()).split(/[ -]+/)
            const asked = wanted.split(/[ -]+/).filter((word) => word !== '')
            const isNamed = asked.length > 0 && asked.every((word) => words.includes(word))
            const match = own === wanted ? 0 : own.startsWith(wanted) ? 1 : isNamed ? 2 : null
            return { n, symbol, match, holders: n % 4, mint: mintOf(n) }
          })
          .flatMap((one) =>
            one.match === null || wanted === '' ? [] : [{ ...one, match: one.match }],
          )
          .sort((a, b) => a.match - b.match || b.holders - a.holders || (a.mint < b.mint ? -1 : 1))
          .slice(0, 20)
        hits += expected.length
        t.deepEqual(
          await found(text),
          expected.map(
            ({ match, symbol, n, holders }) =>
              `${['exact', 'prefix', 'word'][match]} ${symbol || null} ${n} ${holders}`,
          ),
        )
      },
    ),
    { numRuns: 60 },
  )
  t.true(hits > 60)
})
