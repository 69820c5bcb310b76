import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import type { Browser, Locator, Page } from 'playwright-core'
import { until } from '../whole-service/customer.ts'
import { type Deployment, deploy } from '../whole-service/deployment.ts'
import { COLOUR_RULES, findAccessibilityViolations } from './accessibility.ts'
import { findChromium, launchChromium } from './chromium.ts'
import {
  connectButton,
  goTo,
  loadPaidData,
  openDetails,
  pageNames,
  payForCredits,
  payShownPrice,
  signInButton,
  signInWithWallet,
  tabTo,
  waitForLeaderboard,
  waitForPayment,
} from './customer.ts'
import {
  failureCasesOf,
  interceptPath,
  PAGE_CASES,
  type PageCase,
  refuseExpiredSession,
} from './page-cases.ts'
import { openVisitor, readStoredData, sidewaysScroll, type Visitor } from './visitor.ts'

/*
 * The dashboard in headless Chromium, with one service over the simulated market in a separate
 * process, as `npm start` runs it.
 */

const chromium = findChromium()
const SKIP_REASON =
  chromium === null ? ' (skipped: no Chromium; apt-get install chromium, or CHROMIUM_PATH)' : ''
const browserTest = (title: string, run: (t: ExecutionContext) => Promise<void>) =>
  (chromium === null ? test.skip : test.serial)(`${title}${SKIP_REASON}`, async (t) => {
    await run(t)
  })

let deployment: Deployment
let browser: Browser
let url = ''
/** Origin of the simulator's RPC, where the test wallet pays. */
let rpc = ''
/** Faults of pages in width, contrast and names. The last test reports them. */
const layoutFaults: string[] = []

test.before(async () => {
  if (chromium === null) return
  deployment = await deploy('embedded', [], {
    SIMULATOR_HISTORY_HOURS: '26',
    WEBHOOK_LOOPBACK: 'true',
  })
  const service = deployment.start('all')
  ;[browser, url] = await Promise.all([launchChromium(chromium), service.line('url')])
  const shell = await (await fetch(`${url}/dashboard`)).text()
  rpc = /<meta name="simulator-rpc" content="(http:\/\/127\.0\.0\.1:\d+)/.exec(shell)?.[1] ?? ''
})

test.after.always(async () => {
  await browser?.close()
  await deployment?.remove()
})

const open = async (t: ExecutionContext): Promise<Visitor> => {
  const visitor = await openVisitor(browser, { allowed: [url, rpc] })
  t.teardown(() => visitor.close())
  return visitor
}

/** Records the faults of the current page in both themes and in a window of 320 pixels. */
async function inspect({ page }: Visitor, name: string): Promise<void> {
  const record = (where: string) => (fault: string) =>
    layoutFaults.push(`${name}, ${where}: ${fault}`)
  ;(await findAccessibilityViolations(page)).forEach(record('light'))
  await page.emulateMedia({ colorScheme: 'dark' })
  ;(await findAccessibilityViolations(page, COLOUR_RULES)).forEach(record('dark'))
  const size = page.viewportSize()
  await page.setViewportSize({ width: 320, height: 640 })
  const overflow = await sidewaysScroll(page)
  if (overflow > 0) record('320 pixels wide')(`scrolls sideways by ${overflow} pixels`)
  await page.emulateMedia({ colorScheme: 'light' })
  if (size) await page.setViewportSize(size)
}

/** Pages that show the activity of the market. */
const MARKET_PAGES = ['Live trades', 'Wallets', 'Trending', 'Signals']

/** Waits until a market page has a row. A new installation first loads the history of a day. */
async function waitForFirstRow(page: Page, name: string): Promise<void> {
  if (!MARKET_PAGES.includes(name)) return
  if (name === 'Wallets') return waitForLeaderboard(page)
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
  const firstRow = page.getByRole('main').getByRole('row').nth(1) // below the header
  await firstRow.waitFor({ timeout: 180_000 })
}

async function statusWith(bearer: string, path: string): Promise<number> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${bearer}` } })
  await response.arrayBuffer()
  return response.status
}

browserTest('the keyboard alone leads from the front page to the account', async (t) => {
  const visitor = await open(t)
  const { page } = visitor
  await page.goto(url)
  await inspect(visitor, 'front page')
  await tabTo(page, page.getByRole('link', { name: 'Dashboard' }))
  await page.keyboard.press('Enter')
  await connectButton(page).waitFor()
  await inspect(visitor, 'connect')
  await tabTo(page, connectButton(page))
  await page.keyboard.press('Enter')
  await signInButton(page).waitFor()
  await inspect(visitor, 'sign in')
  await tabTo(page, signInButton(page))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
  // The heading has the focus, so a screen reader announces the page.
  t.is(await page.evaluate('document.activeElement.textContent'), 'Account')
  t.deepEqual(visitor.violations, [])
})

browserTest('the documents follow the theme and fit a phone', async (t) => {
  const visitor = await open(t)
  const { page } = visitor
  for (const path of ['/docs', '/docs/feed', '/docs/security']) {
    await page.goto(`${url}${path}`)
    await inspect(visitor, path)
  }
  await page.goto(`${url}/docs/rest`)
  await page.locator('.opblock-summary-method').first().waitFor()
  const badges = '.opblock-summary-method, .version-stamp'
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const faults = await findAccessibilityViolations(page, ['color-contrast'], badges)
    t.deepEqual(faults, [], colorScheme)
  }
  await page.setViewportSize({ width: 320, height: 640 })
  t.is(await sidewaysScroll(page), 0)
  t.deepEqual(visitor.violations, [])
})

browserTest(
  'each page says what it loads, what went wrong and what to do next, and recovers',
  async (t) => {
    const visitor = await open(t)
    const { page } = visitor
    const main = page.getByRole('main')
    await page.routeWebSocket(/\/ws$/, () => {}) // It opens and sends nothing.
    await page.goto(`${url}/dashboard`)

    const nonces = await interceptPath(page, { path: '/auth/nonce' })
    nonces.respondWith((route) => route.abort())
    await connectButton(page).click()
    await signInButton(page).click()
    const retrySignIn = alertIn(main, 'The service cannot be reached.').getByRole('button')
    await retrySignIn.waitFor()
    nonces.recover()

    const [first, ...others] = PAGE_CASES
    await checkPageCase(t, visitor, first, () => retrySignIn.click())
    for (const pageCase of others)
      await checkPageCase(t, visitor, pageCase, () =>
        page.evaluate(`location.hash = '#${pageCase.hash}'`),
      )

    await page.evaluate("location.hash = '#/tokens/xyz'")
    await main.getByText('xyz is not a token address.').waitFor()
    await page.evaluate("location.hash = '#/account'")
    await page.route('**/auth/logout', (route) => route.abort())
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await alertIn(main, 'You are signed out on this page, but the service did not').waitFor()
    await page.evaluate("location.hash = '#/wallets/W1'")
    await connectButton(page).waitFor() // Data needs a session too.
    // Chromium prints an error for each response that is an error.
    t.deepEqual(
      visitor.violations.filter((violation) => !/Failed to load resource/.test(violation)),
      [],
    )
  },
)

function alertIn(main: Locator, text: string): Locator {
  return main.getByRole('alert').filter({ hasText: text })
}

/** Pages on which the session expires. A wallet may sign in only a few times a minute. */
const EXPIRING_PAGES = ['/usage', '/trending']

/** Goes through the states of a page: loading, each failure, and the response. */
async function checkPageCase(
  t: ExecutionContext,
  visitor: Visitor,
  pageCase: PageCase,
  openPage: () => Promise<unknown>,
): Promise<void> {
  const { page } = visitor
  const { hash, loading, loaded, isSample = false } = pageCase
  const main = page.getByRole('main')
  const service = await interceptPath(page, pageCase)
  const load = async () => {
    if (pageCase.loadButton) await main.getByRole('button', { name: pageCase.loadButton }).click()
  }
  await openPage()
  await load()
  await main.getByRole('status').getByText(loading, { exact: true }).waitFor()
  if (isSample) await inspect(visitor, `${hash}, loading`)
  const retry = await checkFailures(t, visitor, pageCase, service.respondWith)
  if (isSample) await inspect(visitor, `${hash}, failed`)

  if (EXPIRING_PAGES.includes(hash)) {
    service.respondWith(refuseExpiredSession)
    await retry()
    await main.getByText('Your sign-in has expired.').waitFor()
    if (isSample) await inspect(visitor, `${hash}, signed out`)
    service.recover()
    await signInButton(page).click()
  } else {
    service.recover()
    await retry()
  }
  await main.getByText(loaded).waitFor()
  t.is(await main.getByRole('alert').filter({ hasText: /./ }).count(), 0, hash)
  if (isSample) await inspect(visitor, `${hash}, empty`)
  await service.remove()
}

/** Checks the notice of each failure. Returns the function that retries the last request. */
async function checkFailures(
  t: ExecutionContext,
  { page, context }: Visitor,
  pageCase: PageCase,
  respondWith: Awaited<ReturnType<typeof interceptPath>>['respondWith'],
): Promise<() => Promise<void>> {
  const main = page.getByRole('main')
  let retry = async () => {}
  for (const { respond, message, link, isOffline = false } of failureCasesOf(pageCase)) {
    await context.setOffline(isOffline)
    respondWith(respond)
    await retry()
    const notice = alertIn(main, message)
    t.is(await notice.locator('p').first().textContent(), message, pageCase.hash)
    if (link) t.is(await notice.getByRole('link').getAttribute('href'), link)
    if (isOffline) await main.getByRole('status').getByText('You are offline').waitFor()
    const button = pageCase.retryButton
      ? main.getByRole('button', { name: pageCase.retryButton })
      : main.getByRole('alert').getByRole('button', {
          name: pageCase.credential === 'key' ? /^Try again \(\d credits?\)$/ : /^Try again$/,
        })
    retry = () => button.click()
  }
  await context.setOffline(false)
  return retry
}

browserTest(
  'a customer signs in, pays, uses up the credits, tops up, buys Pro, rotates the key and signs out',
  async (t) => {
    const visitor = await open(t)
    const { page } = visitor
    const tokens: string[] = []
    const sessionKeys: string[] = []
    page.on('response', async (response) => {
      if (!response.ok()) return
      if (response.url() === `${url}/me/session-key`) {
        const { session_key } = (await response.json()) as { session_key: string } // rule L16
        sessionKeys.push(session_key)
      }
      if (response.url() !== `${url}/auth/login`) return
      const { token } = (await response.json()) as { token: string } // rule E1
      tokens.push(token)
    })
    await page.goto(`${url}/dashboard`)
    await signInWithWallet(page)
    await page.getByText(/^tw_/).waitFor()
    await inspect(visitor, 'account with a key')
    const key = await saveShownKey(t, page)
    t.is(await statusWith(key, '/wallets'), 402)
    await copiesFirstCall(t, page)

    await showsWhatProIs(t, visitor)
    await buyProAndFirstCredits(t, visitor)
    await visitPages(t, visitor, key)

    await goTo(page, 'Account')
    t.deepEqual(await stepsDone(page), []) // All are done, so they are not shown any more.
    await page.getByRole('button', { name: 'Rotate API key' }).click()
    await page.getByRole('button', { name: 'Rotate API key now' }).click()
    const nextKey = await saveShownKey(t, page)
    t.deepEqual(
      [await statusWith(key, '/wallets'), await statusWith(nextKey, '/wallets')],
      [401, 200],
    )
    const namedKey = await createAndDeleteKey(t, visitor)
    const hookSecrets = await useWebhook(t, visitor)
    const stored = await readStoredData(visitor)
    t.is(sessionKeys.length, 1)
    const secrets = [key, nextKey, namedKey, ...hookSecrets, ...sessionKeys, ...tokens]
    t.true(secrets.length >= 7 && secrets.every((secret) => secret.length > 30))
    t.deepEqual(
      secrets.filter((secret) => stored.includes(secret)),
      [],
    )
    await signOutInBothWays(t, visitor, nextKey, tokens)
    t.deepEqual(visitor.violations, [])
  },
)

/** Creates a named key, uses it and deletes it. Returns the key. */
async function createAndDeleteKey(t: ExecutionContext, visitor: Visitor): Promise<string> {
  const { page } = visitor
  const form = page.getByRole('region', { name: 'New key' })
  await goTo(page, 'Keys')
  await form.getByRole('button', { name: 'Create key' }).click()
  await form.getByRole('alert').getByText('Enter a name of 1 to 40 characters.').waitFor()
  await form.getByLabel('Name').fill('a program')
  await form.getByLabel('Live feed').uncheck()
  await form.getByRole('button', { name: 'Create key' }).click()
  const row = page.getByRole('table', { name: 'Keys, oldest first' }).getByRole('row').nth(1)
  await row.getByText('Read data (REST)', { exact: true }).waitFor()
  await inspect(visitor, 'a new key')
  const key = await saveShownKey(t, page)
  t.is(await statusWith(key, '/wallets'), 200)
  t.is(await statusWith(key, '/ws'), 403)
  await row.getByRole('button', { name: 'Delete a program' }).click()
  await inspect(visitor, 'deleting a key')
  await row.getByRole('button', { name: 'Delete a program now' }).click()
  await page.getByText('You have no keys beside that of your account.').waitFor()
  t.is(await statusWith(key, '/wallets'), 401)
  return key
}

/**
 * Creates a webhook, tests, pauses, resumes and replays it, rotates its secret and deletes it.
 * Returns its secrets.
 */
async function useWebhook(t: ExecutionContext, visitor: Visitor): Promise<string[]> {
  const { page } = visitor
  const main = page.getByRole('main')
  const receiver = await startReceiver(t)
  const form = page.getByRole('region', { name: 'New webhook' })
  await goTo(page, 'Webhooks')
  await form.getByLabel('URL').fill('bot')
  const create = form.getByRole('button', { name: 'Create webhook (1 credit per trade)' })
  await create.click()
  await form.getByRole('alert').getByText('Enter a URL such as').waitFor()
  await form.getByLabel('URL').fill(receiver.url)
  await create.click()
  const secret = await saveShownSecret(t, page)
  await main.getByRole('article', { name: receiver.url }).getByText('Delivering').waitFor()
  await inspect(visitor, 'a new webhook')

  await main.getByRole('link', { name: receiver.url }).click()
  const row = main.getByRole('table').getByRole('row').filter({ hasText: 'Accepted (200)' })
  const delivery = row.filter({ hasText: 'What came after' })
  await delivery.nth(1).waitFor()
  await main.getByRole('button', { name: 'Pause' }).click()
  await main.getByText('Paused by you').waitFor()
  await main.getByRole('button', { name: 'Send a test' }).click()
  await main.getByRole('status').getByText('Accepted (200), after').waitFor()
  await row.filter({ hasText: 'Test' }).waitFor()
  await inspect(visitor, 'deliveries of a webhook')

  const count = receiver.deliveries.length
  const known = new Set(receiver.deliveries.flatMap(idsOf))
  await delivery.last().getByRole('button', { name: 'What came after' }).click()
  await main.getByRole('button', { name: 'Replay', exact: true }).click()
  await main.getByText('The replay begins when the webhook delivers again.').waitFor()
  await main.getByRole('button', { name: 'Resume' }).click()
  await main.getByText('Delivering').waitFor()
  const repeated = () =>
    receiver.deliveries
      .slice(count)
      .flatMap(idsOf)
      .filter((id) => known.has(id))
  await until(
    async () => repeated().length,
    (length) => length > 0,
  )

  await main.getByRole('region', { name: 'Change' }).getByLabel('Wallets').fill('W1')
  await main.getByRole('button', { name: 'Save' }).click()
  await main.getByText('Trades of W1, of all tokens').waitFor()
  await main.getByRole('button', { name: 'Rotate secret' }).click()
  await inspect(visitor, 'rotating a secret')
  await main.getByRole('button', { name: 'Rotate secret now' }).click()
  const nextSecret = await saveShownSecret(t, page)
  await main.getByRole('button', { name: 'Send a test' }).click()
  const signatures = await until(
    async () => receiver.deliveries.at(-1)?.headers['webhook-signature'] ?? '',
    (text) => text.includes(' '),
  )
  t.is(String(signatures).split(' ').length, 2)

  await main.getByRole('button', { name: 'Delete webhook' }).click()
  await main.getByRole('button', { name: 'Delete webhook now' }).click()
  await main.getByText('You have no webhooks.').waitFor()
  await showsFailingWebhook(visitor)
  return [secret, nextSecret]
}

/** The account page says that a webhook was paused because it failed. */
async function showsFailingWebhook(visitor: Visitor): Promise<void> {
  const { page } = visitor
  const hooks = await interceptPath(page, { path: '/me/webhooks' })
  const hook = {
    id: '1',
    url: 'https://bot.example/',
    status: 'failing',
    failing_since: 1790000000,
  }
  hooks.respondWith((route) => route.fulfill({ json: { items: [hook] } }))
  await goTo(page, 'Account')
  const notice = page.getByRole('status').filter({
    hasText:
      'Your webhook to bot.example does not deliver: Paused, because no delivery was accepted since 2026-09-21 14:13 UTC. Go to your webhooks',
  })
  await notice.waitFor()
  await inspect(visitor, 'a failing webhook')
  await hooks.remove()
}

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The `id`s of the messages of a delivery. */
function idsOf({ body }: Received): string[] {
  const { data } = JSON.parse(body) as { data: { messages?: readonly { id: string }[] } }
  return (data.messages ?? []).map(({ id }) => id)
}

/** Starts a receiver on loopback that accepts every delivery. */
async function startReceiver(t: ExecutionContext) {
  const deliveries: Received[] = []
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('')
    deliveries.push({ headers: request.headers, body })
    response.end()
  })
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // It listens on a port.
  return { url: `http://127.0.0.1:${port}/trades`, deliveries }
}

/** Copies the secret that the page shows, and confirms that it is saved. */
async function saveShownSecret(t: ExecutionContext, page: Page): Promise<string> {
  const code = page.getByRole('main').getByText(/^whsec_/)
  const secret = (await code.textContent()) ?? ''
  await page.getByRole('button', { name: 'Copy secret' }).click()
  await page.getByText('Copied.').waitFor()
  t.is(await pastedText(page), secret)
  await page.getByRole('button', { name: 'I have saved the secret' }).click()
  await code.waitFor({ state: 'detached' })
  return secret
}

/** The live trades go on, with their rows, while another page is open. */
async function leaveAndReturnToTrades(t: ExecutionContext, page: Page): Promise<void> {
  await goTo(page, 'Live trades')
  await page.getByRole('button', { name: /^Restart with this filter/ }).click()
  const live = page.getByRole('status').getByText('Live', { exact: true })
  await live.waitFor()
  const rows = page.getByRole('main').getByRole('row')
  await rows.nth(1).waitFor()
  const count = await rows.count()
  await goTo(page, 'Usage')
  await goTo(page, 'Live trades')
  await live.waitFor()
  t.true((await rows.count()) >= count)
  await page.getByRole('button', { name: /^Pause/ }).click()
  await page.getByRole('status').getByText('Paused', { exact: true }).waitFor()
  await namesTokensAndAges(t, page, rows.nth(1))
}

/** A row of the live trades says how long ago it was, and has the address of its token. */
async function namesTokensAndAges(t: ExecutionContext, page: Page, row: Locator): Promise<void> {
  t.regex((await row.locator('time').textContent()) ?? '', / ago$/)
  const token = row.locator('a[href^="#/tokens/"]')
  const mint = (await token.getAttribute('href'))?.slice('#/tokens/'.length) ?? ''
  t.is(await token.getAttribute('title'), mint)
  await row.getByRole('button', { name: /^Copy address of / }).click()
  await row.getByRole('button', { name: /^Copied address of / }).waitFor()
  t.is(await pastedText(page), mint)
  // Live trades of a token may lack its symbol at first; those of the history have it.
  const names = await page.getByRole('main').locator('a[href^="#/tokens/"]').allTextContents()
  t.true(names.some((name) => !name.includes('…')))
}

/** Copies the API key that the page shows, and confirms that it is saved. */
async function saveShownKey(t: ExecutionContext, page: Page): Promise<string> {
  const code = page.getByRole('main').getByText(/^tw_/)
  const key = (await code.textContent()) ?? ''
  await page.getByRole('button', { name: 'Copy API key' }).click()
  await page.getByText('Copied.').waitFor()
  t.is(await pastedText(page), key)
  await page.getByRole('button', { name: 'I have saved the key' }).click()
  await code.waitFor({ state: 'detached' })
  t.false((await page.content()).includes(key))
  return key
}

/** The first steps name what is done, and the first call is there to copy. */
async function copiesFirstCall(t: ExecutionContext, page: Page): Promise<void> {
  t.deepEqual(await stepsDone(page), [true, true, false, false, false])
  await page.getByRole('button', { name: 'Copy first call' }).click()
  await page.getByText('Copied.').waitFor()
  const call = `curl -H 'Authorization: Bearer YOUR_API_KEY' '${url}/trades?limit=3'`
  t.is(await pastedText(page), call)
}

/** Of each of the first steps whether it is done; none where they are not shown. */
async function stepsDone(page: Page): Promise<boolean[]> {
  const texts = await page
    .getByRole('main')
    .getByRole('list')
    .getByRole('listitem')
    .allTextContents()
  return texts.map((text) => text.startsWith('Done. '))
}

/** Without Pro its pages explain themselves, and are not shown as failures. */
async function showsWhatProIs(t: ExecutionContext, visitor: Visitor): Promise<void> {
  const main = visitor.page.getByRole('main')
  for (const name of ['Trending', 'Signals']) {
    await goTo(visitor.page, name)
    await main.getByText('This page is part of Pro').waitFor()
    t.is(await main.getByRole('alert').count(), 0, name)
    const link = main.getByRole('link', { name: 'See what Pro costs' })
    t.is(await link.getAttribute('href'), '#/pro')
    await inspect(visitor, `${name} without Pro`)
  }
}

async function buyProAndFirstCredits(t: ExecutionContext, visitor: Visitor): Promise<void> {
  const { page } = visitor
  await goTo(page, 'Top up')
  await payForCredits(page, '0.02')
  await page.getByRole('progressbar').waitFor()
  await inspect(visitor, 'Top up, checking for a payment')
  await goTo(page, 'Pro')
  await payShownPrice(page)
  await waitForPayment(page, /^Pro is active/)
  t.is(await page.getByText('You do not have a Pro subscription.').count(), 0)
  await inspect(visitor, 'Pro')
  await goTo(page, 'Top up')
  await waitForPayment(page, /^20 credits added/)
}

/** Opens every page with data, first until the credits are used up, then after a top-up. */
async function visitPages(t: ExecutionContext, visitor: Visitor, key: string): Promise<void> {
  const { page } = visitor
  const visit = async (name: string) => {
    await goTo(page, name)
    await loadPaidData(page)
    await waitForFirstRow(page, name)
    await inspect(visitor, name)
  }
  const names = [
    ...MARKET_PAGES,
    'Favourites',
    'Account',
    'Keys',
    'Webhooks',
    'Security',
    'Usage',
    'Pro',
    'Top up',
  ]
  t.deepEqual(await pageNames(page), names)
  await visit('Live trades')
  await page.getByText(/^Your credits are used up/).waitFor({ timeout: 60_000 })
  t.is(await statusWith(key, '/wallets'), 402)
  await goTo(page, 'Top up')
  await payForCredits(page, '1')
  // The payment is finalized while the free pages are open.
  for (const name of ['Keys', 'Webhooks', 'Security', 'Usage', 'Trending', 'Signals'])
    await visit(name)
  await goTo(page, 'Top up')
  await waitForPayment(page, /^1,000 credits added/)
  await leaveAndReturnToTrades(t, page)
  await visit('Wallets')
  await chooseColumn(t, page)
  await openDetails(page, 'wallets')
  await inspect(visitor, 'a wallet')
  await page.getByRole('button', { name: /^Favourite W/, pressed: false }).click()
  const positions = page.locator('.data-table').filter({ hasText: /positions?, newest first/ })
  const symbol = await positions.locator('a[href^="#/tokens/"]').first().textContent()
  await openDetails(page, 'tokens')
  await page.getByRole('heading', { level: 1, name: `Token ${symbol}`, exact: true }).waitFor()
  const swap = page
    .getByRole('table', { name: /swaps by tracked wallets/ })
    .getByRole('row')
    .nth(1)
  const time = swap.locator('time')
  t.regex((await time.textContent()) ?? '', / ago$/)
  t.regex((await time.getAttribute('title')) ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(.* UTC\)$/)
  await inspect(visitor, 'a token')
  await useShortcuts(t, visitor)
}

/** Hides a column of the leaderboard and shows it again. */
async function chooseColumn(t: ExecutionContext, page: Page): Promise<void> {
  const header = page.getByRole('columnheader', { name: 'Win rate' })
  await page.getByText('Columns', { exact: true }).click()
  const box = page.getByRole('checkbox', { name: 'Win rate' })
  await box.uncheck()
  await header.waitFor({ state: 'detached' })
  t.regex(await page.evaluate<string>("localStorage.getItem('columns')"), /"wallets"/)
  await box.check()
  await header.waitFor()
}

/** Finds pages by the keyboard: a search by alias and by name, favourites, and the list of keys. */
async function useShortcuts(t: ExecutionContext, visitor: Visitor): Promise<void> {
  const { page } = visitor
  const dialog = page.getByRole('dialog')
  await page.keyboard.press('/')
  await dialog.getByRole('searchbox').waitFor()
  await page.keyboard.type('w2')
  await dialog.getByRole('button', { name: 'Open wallet W2' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Wallet W2', exact: true }).waitFor()
  await page.keyboard.press('/')
  await dialog.getByRole('searchbox').waitFor()
  await page.keyboard.type('w')
  await dialog.getByRole('button', { name: 'Load what “w” finds (1 credit)' }).waitFor()
  await page.keyboard.press('Enter')
  await dialog.getByRole('link', { name: 'Wallet W1', exact: true }).waitFor()
  await inspect(visitor, 'search')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await dialog.getByText('List the shortcuts').waitFor()
  await inspect(visitor, 'shortcuts')
  await dialog.getByRole('checkbox', { name: 'Use keyboard shortcuts' }).uncheck()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  t.is(await dialog.count(), 0)
  await goTo(page, 'Favourites')
  await page
    .getByRole('main')
    .getByRole('link', { name: /^W\d+$/ })
    .waitFor()
  await inspect(visitor, 'Favourites')
}

/**
 * Reloads, signs out everywhere, signs in again and signs out. `tokens` are all session tokens
 * issued so far.
 */
async function signOutInBothWays(
  t: ExecutionContext,
  visitor: Visitor,
  key: string,
  tokens: readonly string[],
): Promise<void> {
  const { page } = visitor
  const newestToken = () => tokens.at(-1) ?? ''
  await goTo(page, 'Account')
  await page.reload()
  await signInWithWallet(page)
  await page.getByText(`Your key ends in ${key.slice(-4)}`).waitFor()
  t.is(await page.getByText(/tw_/).count(), 0)
  const token = newestToken()
  t.is(await statusWith(token, '/me/api'), 200)
  await goTo(page, 'Security')
  const events = page.getByRole('table', { name: 'Recent events, newest first' })
  for (const event of ['API key rotated', 'Webhook created', 'Secret of a webhook rotated'])
    await events.getByRole('row').filter({ hasText: event }).waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await inspect(visitor, 'signing out everywhere')
  await page.getByRole('button', { name: 'Sign out everywhere now' }).click()
  await connectButton(page).waitFor()
  t.is(await statusWith(token, '/me/api'), 401)

  await signInWithWallet(page, 'Security')
  await goTo(page, 'Account')
  await page.getByText(`Your key ends in ${key.slice(-4)}`).waitFor()
  const lastToken = newestToken()
  t.is(await statusWith(lastToken, '/me/api'), 200)
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await connectButton(page).waitFor()
  t.is(
    await until(
      () => statusWith(lastToken, '/me/api'),
      (status) => status !== 200,
    ),
    401,
  )
}

browserTest('every page is accessible in light and dark and fits a narrow phone', async (t) => {
  t.deepEqual(layoutFaults, [])
})

/** Returns what a paste gives. The page may not read the clipboard (`Permissions-Policy`). */
async function pastedText(page: Page): Promise<string> {
  await page.evaluate(`{
    const field = document.createElement('textarea')
    field.id = 'pasted'
    document.body.append(field)
    field.focus()
  }`)
  await page.keyboard.press('ControlOrMeta+V')
  const text = await page.locator('#pasted').inputValue()
  await page.evaluate("document.getElementById('pasted').remove()")
  return text
}
