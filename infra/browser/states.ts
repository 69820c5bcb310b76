import type { Page, Route } from 'playwright-core'
import { ApiError, type ProblemCode, problem } from '../../api/errors.ts'

/*
 * What can become of a question that a page asks, and how a page says so. The service is asked really, but for the answer in question.
 */

/** A page that asks, and what it shows. Texts are whole sentences, or where they begin. */
export interface AskingPage {
  /** What is behind # in the address. */
  readonly place: string
  readonly asks: 'none' | 'token' | 'key'
  /** The path of the question. */
  readonly path: string
  readonly loading: string
  /** What is there once it is answered. */
  readonly good: string
  /** An answer without anything in it; without one, the service's own is taken: a new account has used nothing. */
  readonly empty?: object
  /** The button that asks for it, where that costs credits. */
  readonly offer?: RegExp
  /** Asks again after a failure, where that is no button of the failure's. */
  readonly again?: RegExp
  /** Part of Pro. */
  readonly isPro?: boolean
  /** Everything that can happen is tried on it: pages that ask alike say alike. */
  readonly isSample?: boolean
}

/** An address, of no token. */
const MINT = '1'.repeat(32)

export const ASKING_PAGES: readonly [AskingPage, ...AskingPage[]] = [
  {
    place: '/account',
    asks: 'token',
    path: '/me/api',
    loading: 'Loading your account …',
    good: 'Without credits calls of the API',
  },
  {
    place: '/top-up',
    asks: 'none',
    path: '/billing/plans',
    loading: 'Loading the prices …',
    good: 'That is 10,000 credits',
  },
  {
    place: '/pro',
    asks: 'token',
    path: '/billing/pro/check',
    loading: 'Loading your subscription …',
    good: 'You have no Pro at present.',
  },
  {
    place: '/usage',
    asks: 'token',
    path: '/me/usage',
    loading: 'Loading what was used …',
    good: 'Nothing was used in this time.',
    isSample: true,
  },
  {
    place: '/trending',
    asks: 'token',
    path: '/me/watchlists/trending',
    loading: 'Loading the watchlist …',
    good: 'No token is held by two tracked wallets now.',
    empty: { items: [] },
    isPro: true,
  },
  {
    place: '/signals',
    asks: 'token',
    path: '/me/signals/filter',
    loading: 'Loading the signals …',
    good: 'No strategy has fired yet.',
    empty: { items: [] },
    isPro: true,
  },
  {
    place: '/trades',
    asks: 'key',
    path: '/trades',
    loading: 'Loading the last trades …',
    good: 'No trade yet that matches.',
    empty: { items: [], has_more: false, next_cursor: null },
    offer: /^Start \(/,
    again: /^Start \(/,
  },
  {
    place: '/wallets',
    asks: 'key',
    path: '/wallets',
    loading: 'Loading wallets, page 1 …',
    good: 'No wallet is on this page.',
    empty: { page: 1, page_size: 25, total: 0, has_more: false, items: [] },
    offer: /^Load wallets, page 1 \(1 credit\)$/,
    isSample: true,
  },
  {
    place: '/wallets/W1',
    asks: 'key',
    path: '/wallets/holdings',
    loading: 'Loading the holdings of W1 …',
    good: 'It holds no token that it bought.',
    empty: { page: 1, page_size: 100, total: 0, has_more: false, items: [] },
    offer: /^Load the holdings of W1 \(1 credit\)$/,
  },
  {
    place: `/tokens/${MINT}`,
    asks: 'key',
    path: `/tokens/${MINT}/swaps`,
    loading: 'Loading its swaps …',
    good: 'No tracked wallet has traded this token.',
    empty: { items: [], has_more: false, next_cursor: null },
    offer: /^Load its swaps \(3 credits\)$/,
  },
]

/** Something that keeps a page from its answer. */
export interface Trouble {
  readonly answer: Answer
  /** The whole sentence that a page says then, what it advises included. */
  readonly says: string
  /** Where a link in it leads to. */
  readonly leadsTo?: string
  /** The browser itself has no network meanwhile. */
  readonly isOffline?: boolean
}

type Answer = (route: Route) => Promise<void>

/** What goes wrong on a page but for the end of the session, which takes the page away. */
export function troublesOf({ asks, isPro = false, isSample }: AskingPage): readonly Trouble[] {
  return [
    ...FIRST,
    ...(isSample ? OTHERS : []),
    ...(asks === 'key' ? OF_A_KEY : []),
    ...(isPro
      ? [
          {
            answer: refuse('pro_required'),
            says: 'This view needs an active Pro subscription. See the Pro plans',
            leadsTo: '#/pro',
          },
        ]
      : []),
  ]
}

/** What a page whose token is valid no more is answered. */
export const sessionEnded: Answer = refuse('unauthorized')

const FIRST: readonly Trouble[] = [
  {
    answer: refuse('unavailable', { 'retry-after': '1' }),
    says: 'The service cannot answer this just now. Nothing was charged; try again in a moment.',
  },
  {
    answer: (route) => route.abort('connectionrefused'),
    says: 'The service does not answer. Nothing is lost; try again in a moment.',
  },
]

const OTHERS: readonly Trouble[] = [
  {
    answer: refuse('rate_limited', { 'retry-after': '7' }),
    says: 'Too many requests came from your network or your account. Wait 7 s, then try again.',
  },
  {
    answer: refuse('internal_error'),
    says: 'Something went wrong on our side. Nothing was charged; try again in a moment.',
  },
  {
    answer: (route) => route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' }),
    says: 'The service gave an answer that it should not give. Nothing was charged; try again in a moment.',
  },
  {
    answer: (route) => route.continue(),
    says: 'You are offline. Nothing is lost; try again when you are connected.',
    isOffline: true,
  },
]

const OF_A_KEY: readonly Trouble[] = [
  {
    answer: refuse('insufficient_credits'),
    says: 'The credits left do not cover this call. Top up credits',
    leadsTo: '#/top-up',
  },
  {
    answer: refuse('unauthorized'),
    says: 'This API key is not valid: it was replaced, or is mistyped. Go to your account',
    leadsTo: '#/account',
  },
]

/** A refusal as the service gives it. */
function refuse(code: ProblemCode, headers: Readonly<Record<string, string>> = {}): Answer {
  const error = new ApiError(code)
  return (route) =>
    route.fulfill({
      status: error.status,
      headers: { 'content-type': 'application/problem+json', ...headers },
      body: JSON.stringify(problem(error, 'req-1')),
    })
}

/** Stands between a page and the service for one path: each question is answered by the newest of what `answer` was given, and waits until it was given something. */
export async function standBetween(page: Page, asking: Pick<AskingPage, 'path' | 'empty'>) {
  let give: (answer: Answer) => void = () => {}
  let answer: Promise<Answer> | Answer = new Promise((resolve) => {
    give = resolve
  })
  const isAsked = ({ pathname }: URL) => pathname === asking.path
  await page.route(isAsked, async (route) => (await answer)(route))
  const next = (how: Answer) => {
    give(how)
    answer = how
  }
  return {
    answer: next,
    /** Answers as it should be from now on. */
    recover: () =>
      next((route) =>
        asking.empty === undefined ? route.continue() : route.fulfill({ json: asking.empty }),
      ),
    leave: () => page.unroute(isAsked),
  }
}
