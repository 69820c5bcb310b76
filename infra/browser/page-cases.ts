import type { Page, Route } from 'playwright-core'
import { ApiError, PROBLEMS, type ProblemCode, problem } from '../../api/errors.ts'

/*
 * The pages that send requests, and what each shows while it waits, after a failure, and at the
 * end. Tests replace the response to one request; all others are the service's own.
 */

/** A page that sends a request, and the texts that it shows. */
export interface PageCase {
  /** Path in the URL hash. */
  readonly hash: string
  readonly credential: 'none' | 'token' | 'key'
  /** Path of the request. */
  readonly path: string
  /** Text that the page shows while it waits for the response. */
  readonly loading: string
  /** Beginning of the text that the page shows after the response. */
  readonly loaded: string
  /** A response without items. Without it, the service responds: a new account has no data. */
  readonly emptyResponse?: object
  /** Name of the button that sends a request that costs credits. */
  readonly loadButton?: RegExp
  /** Name of the button that retries after a failure, if it is not “Try again”. */
  readonly retryButton?: RegExp
  /** Whether every failure is tested on this page. Other pages share its code. */
  readonly isSample?: boolean
}

/** A valid address that is not a token. */
const MINT = '1'.repeat(32)

/** Every page that sends a request when it opens, or by a button. */
export const PAGE_CASES: readonly [PageCase, ...PageCase[]] = [
  {
    hash: '/account',
    credential: 'token',
    path: '/me/api',
    loading: 'Loading your account…',
    loaded: 'You have no credits, so the API and the live feed refuse your requests.',
  },
  {
    hash: '/keys',
    credential: 'token',
    path: '/me/keys',
    loading: 'Loading your keys…',
    loaded: 'You have no keys beside that of your account.',
  },
  {
    hash: '/webhooks',
    credential: 'token',
    path: '/me/webhooks',
    loading: 'Loading your webhooks…',
    loaded: 'You have no webhooks.',
  },
  {
    hash: '/webhooks/6f1c1a52-94a5-4f0e-9d52-0b7d1f6f8e11',
    credential: 'token',
    path: '/me/webhooks',
    loading: 'Loading the webhook…',
    loaded: 'There is no such webhook any more.',
  },
  {
    hash: '/security',
    credential: 'token',
    path: '/me/sessions',
    loading: 'Loading your sessions…',
    loaded: 'Valid sign-ins of this wallet, newest first',
  },
  {
    hash: '/top-up',
    credential: 'none',
    path: '/billing/plans',
    loading: 'Loading the prices…',
    loaded: 'You get 10,000 credits',
  },
  {
    hash: '/pro',
    credential: 'token',
    path: '/billing/pro/check',
    loading: 'Loading your subscription…',
    loaded: 'You do not have a Pro subscription.',
  },
  {
    hash: '/usage',
    credential: 'token',
    path: '/me/usage',
    loading: 'Loading your usage…',
    loaded: 'No credits were used in this period.',
    isSample: true,
  },
  {
    hash: '/trending',
    credential: 'token',
    path: '/me/watchlists/trending',
    loading: 'Loading the trending tokens…',
    loaded: 'No token is trending now.',
    emptyResponse: { items: [] },
  },
  {
    hash: '/signals',
    credential: 'token',
    path: '/me/signals/filter',
    loading: 'Loading the signals…',
    loaded: 'No strategy has fired yet.',
    emptyResponse: { items: [] },
  },
  {
    hash: '/trades',
    credential: 'key',
    path: '/trades',
    loading: 'Loading the last trades…',
    loaded: 'No matching trades yet.',
    emptyResponse: { items: [], has_more: false, next_cursor: null },
    loadButton: /^Start \(/,
    retryButton: /^Start \(/,
  },
  {
    hash: '/wallets',
    credential: 'key',
    path: '/wallets',
    loading: 'Loading wallets, page 1…',
    loaded: 'There are no wallets on this page.',
    emptyResponse: {
      page: 1,
      page_size: 25,
      total: 0,
      has_more: false,
      as_of: 1790000000,
      items: [],
    },
    loadButton: /^Load wallets, page 1 \(1 credit\)$/,
    isSample: true,
  },
  {
    hash: '/wallets/W1',
    credential: 'key',
    path: '/wallets/W1/positions',
    loading: 'Loading the positions of W1…',
    loaded: 'W1 has no open positions.',
    emptyResponse: { items: [], has_more: false, next_cursor: null },
    loadButton: /^Load the positions of W1 \(1 credit\)$/,
  },
  {
    hash: '/wallets/W2',
    credential: 'key',
    path: '/wallets/W2/pnl',
    loading: 'Loading the profit of W2…',
    loaded: 'There is no point in this span yet.',
    emptyResponse: { items: [] },
    loadButton: /^Load the profit of W2 \(1 credit\)$/,
  },
  {
    hash: '/wallets/W3',
    credential: 'key',
    path: '/wallets/W3/trades',
    loading: 'Loading the trades of W3…',
    loaded: 'W3 has not traded yet.',
    emptyResponse: { items: [], has_more: false, next_cursor: null },
    loadButton: /^Load the trades of W3 \(1 credit\)$/,
  },
  {
    hash: `/tokens/${MINT}`,
    credential: 'key',
    path: `/tokens/${MINT}/swaps`,
    loading: 'Loading the swaps of this token…',
    loaded: 'No tracked wallet has traded this token.',
    emptyResponse: { items: [], has_more: false, next_cursor: null },
    loadButton: /^Load the swaps of this token \(3 credits\)$/,
  },
]

/** A failed request, and what the page says then. */
export interface FailureCase {
  readonly respond: Responder
  /** The whole first paragraph of the notice, advice included. */
  readonly message: string
  /** Target of the link in the notice. */
  readonly link?: string
  /** Whether the browser is offline during the failure. */
  readonly isOffline?: boolean
}

type Responder = (route: Route) => Promise<void>

/** Returns the failures to test on a page. An expired session is not among them. */
export function failureCasesOf({ credential, isSample }: PageCase): readonly FailureCase[] {
  return [
    ...COMMON_FAILURES,
    ...(isSample ? OTHER_FAILURES : []),
    ...(credential === 'key' ? KEY_FAILURES : []),
  ]
}

/** Responds as to a token that is not valid any more. */
export const refuseExpiredSession: Responder = refuseWith('unauthorized')

const COMMON_FAILURES: readonly FailureCase[] = [
  {
    respond: refuseWith('unavailable', { 'retry-after': '1' }),
    message: 'The service is temporarily unavailable. Nothing was charged. Try again in a moment.',
  },
  {
    respond: (route) => route.abort('connectionrefused'),
    message: 'The service cannot be reached. Try again in a moment.',
  },
]

const OTHER_FAILURES: readonly FailureCase[] = [
  {
    respond: refuseWith('rate_limited', { 'retry-after': '7' }),
    message: 'Too many requests came from your network or account. Wait 7 s, then try again.',
  },
  {
    respond: refuseWith('internal_error'),
    message: `${PROBLEMS.internal_error[1]} Nothing was charged. Try again in a moment.`,
  },
  {
    respond: (route) => route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' }),
    message: 'The service sent an unexpected response. Nothing was charged. Try again in a moment.',
  },
  {
    respond: (route) => route.continue(),
    message: 'You are offline. Try again when you are connected.',
    isOffline: true,
  },
]

const KEY_FAILURES: readonly FailureCase[] = [
  {
    respond: refuseWith('insufficient_credits'),
    message: 'The credits left do not cover this request. Top up credits',
    link: '#/top-up',
  },
]

/** Responds with a refusal of the service. */
function refuseWith(code: ProblemCode, headers: Readonly<Record<string, string>> = {}): Responder {
  const error = new ApiError(code)
  return (route) =>
    route.fulfill({
      status: error.status,
      headers: { 'content-type': 'application/problem+json', ...headers },
      body: JSON.stringify(problem(error, 'req-1')),
    })
}

/**
 * Intercepts the requests of a page to one path. Requests wait until the first `respondWith`; after
 * that, each gets the newest response.
 */
export async function interceptPath(
  page: Page,
  { path, emptyResponse }: Pick<PageCase, 'path' | 'emptyResponse'>,
) {
  let setFirst: (respond: Responder) => void = () => {}
  let responder: Promise<Responder> | Responder = new Promise((resolve) => {
    setFirst = resolve
  })
  const matches = ({ pathname }: URL) => pathname === path
  await page.route(matches, async (route) => (await responder)(route))
  const respondWith = (respond: Responder) => {
    setFirst(respond)
    responder = respond
  }
  return {
    respondWith,
    /** Responds with the empty response, or lets the service respond. */
    recover: () =>
      respondWith((route) =>
        emptyResponse === undefined ? route.continue() : route.fulfill({ json: emptyResponse }),
      ),
    remove: () => page.unroute(matches),
  }
}
