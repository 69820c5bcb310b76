import test from 'ava'
import { boardFromQuery, boardHash, boardPath, changeBoard } from '../market/board-choices.ts'
import { profitPath } from '../market/profit-path.ts'
import { SHORTCUTS, shortcutOf } from '../shortcuts.ts'
import { createStoredAtom } from '../stored-atom.ts'
import { MAX_FAVOURITES, parseFavourites, toggleFavourite } from './favourites.ts'
import { directHit } from './search.ts'

/*
 * What the customer chooses, and the requests and links that follow from it.
 */

const MINT = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'
const board = (query: string) => boardFromQuery(new URLSearchParams(query))

test('a leaderboard is in the URL, with the defaults left out, and invalid choices are the defaults', (t) => {
  t.is(boardHash(board('')), '#/wallets')
  t.is(boardPath(board('')), '/wallets?sort=pnl&order=desc&period=30d&mode=raw&page=1&min_trades=0')
  const link =
    '#/wallets?sort=winrate&order=asc&period=7d&mode=strict&status=scored&page=3&min_trades=50'
  t.is(boardHash(board(link.slice('#/wallets?'.length))), link)
  t.is(
    boardPath(board(link.slice('#/wallets?'.length))),
    '/wallets?sort=winrate&order=asc&period=7d&mode=strict&status=scored&page=3&min_trades=50',
  )
  t.deepEqual(board('sort=x&order=up&period=1d&mode=&status=no&page=0&min_trades=-1'), board(''))
  t.is(board('min_trades=9999999').minTrades, 1_000_000)
})

test('a score has no period, and a change begins at the first page', (t) => {
  const third = changeBoard(board(''), { page: 3 })
  t.is(third.page, 3)
  const byScore = changeBoard(third, { sort: 'score' })
  t.deepEqual([byScore.sort, byScore.period, byScore.page], ['score', 'all', 1])
  const ofWeek = changeBoard(byScore, { period: '7d' })
  t.deepEqual([ofWeek.sort, ofWeek.period], ['pnl', '7d'])
  t.deepEqual(board('sort=score&period=7d'), board('sort=score&period=all'))
})

test('the request for a profit stays the same within an interval', (t) => {
  const now = 1_790_003_700 // its hour began at 1_790_002_800, its day at 1_789_948_800
  t.is(profitPath('W1', '30d', 'raw', now), '/wallets/W1/pnl?interval=1d&mode=raw')
  t.is(
    profitPath('W1', '7d', 'strict', now),
    `/wallets/W1/pnl?interval=1h&from=${1_790_002_800 - 7 * 86_400}&mode=strict`,
  )
  t.is(
    profitPath('W1', '1y', 'raw', now),
    `/wallets/W1/pnl?interval=1d&from=${1_789_948_800 - 365 * 86_400}&mode=raw`,
  )
})

test('a favourite is added at the top and removed by the same click, and the oldest of 200 leaves', (t) => {
  const wallet = { kind: 'wallet', id: 'W1' } as const
  const token = { kind: 'token', id: MINT, symbol: 'Bonk' } as const
  const both = toggleFavourite([wallet], token)
  t.deepEqual(both, [token, wallet])
  t.deepEqual(toggleFavourite(both, { ...token, symbol: null }), [wallet])
  const full = Array.from({ length: MAX_FAVOURITES }, (_, index) => ({
    kind: 'wallet' as const,
    id: `W${index + 1}`,
  }))
  t.deepEqual(toggleFavourite(full, token), [token, ...full.slice(0, -1)])
})

test('what is stored and is no favourite is left out', (t) => {
  t.deepEqual(
    parseFavourites([
      { kind: 'wallet', id: 'W7', note: 'x' },
      { kind: 'wallet', id: MINT },
      { kind: 'token', id: 'W7' },
      { kind: 'token', id: MINT, symbol: 5 },
      null,
      'W1',
    ]),
    [
      { kind: 'wallet', id: 'W7' },
      { kind: 'token', id: MINT, symbol: null },
    ],
  )
  t.is(parseFavourites({ length: 1 }), null)
})

test('an alias and an address are found without a request', (t) => {
  t.deepEqual(directHit('w12'), { hash: '#/wallets/W12', text: 'wallet W12' })
  t.deepEqual(directHit(MINT), { hash: `#/tokens/${MINT}`, text: 'token DezX…B263' })
  t.deepEqual(['', 'W', 'W0', 'bonk', `${MINT}x`].map(directHit), [null, null, null, null, null])
})

test('shortcuts are one key or two in a row, and no key of a text or with a modifier', (t) => {
  const press = (before: string, key: string, more = {}) =>
    shortcutOf(before, { key, isTyping: false, hasModifier: false, ...more })
  t.deepEqual(press('', '/'), { action: 'search', next: '' })
  t.deepEqual(press('', 'g'), { action: null, next: 'g' })
  t.deepEqual(press('g', 'w'), { action: { path: '/wallets' }, next: '' })
  t.deepEqual(press('g', 'x'), { action: null, next: '' })
  t.deepEqual(press('g', 'g'), { action: null, next: 'g' })
  t.deepEqual(press('', 'w'), { action: null, next: '' })
  t.deepEqual(press('', '/', { isTyping: true }), { action: null, next: '' })
  t.deepEqual(press('g', 'w', { hasModifier: true }), { action: null, next: '' })
  t.is(new Set(SHORTCUTS.map(({ keys }) => keys)).size, SHORTCUTS.length)
})

test.serial('a choice survives a reload, and a stored text that is none is ignored', (t) => {
  const stored = new Map<string, string>()
  const before = Object.getOwnPropertyDescriptor(globalThis, 'localStorage')
  t.teardown(() =>
    Object.defineProperty(globalThis, 'localStorage', before ?? { value: undefined }),
  )
  Object.defineProperty(globalThis, 'localStorage', {
    configurable: true,
    value: {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, text: string) => stored.set(name, text),
    },
  })
  const open = () =>
    createStoredAtom('count', 1, (value) => (typeof value === 'number' ? value : null))
  t.is(open().get(), 1)
  open().set(5)
  t.is(open().get(), 5)
  for (const text of ['"5"', '{', '']) {
    stored.set('count', text)
    t.is(open().get(), 1, text)
  }
})
