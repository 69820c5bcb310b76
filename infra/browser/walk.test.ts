import test, { type ExecutionContext } from 'ava'
import type { Browser, Page } from 'playwright-core'
import { until } from '../whole-service/customer.ts'
import { type Deployment, deploy } from '../whole-service/deployment.ts'
import { accessibilityFaults, RULES_OF_COLOUR } from './accessibility.ts'
import { findChromium, launchChromium } from './chromium.ts'
import {
  buyView,
  connectButton,
  goTo,
  lookFor,
  openDetails,
  pay,
  payCredits,
  signIn,
  signInButton,
  tabTo,
  viewNames,
} from './customer.ts'
import { ASKING_PAGES, sessionEnded, standBetween, troublesOf } from './states.ts'
import { keptTexts, openVisitor, sidewaysScroll, type Visitor } from './visitor.ts'

/*
 * The dashboard in a real browser: one service in a process of its own over the simulated market as `npm start` has it, one headless Chromium, and a customer who clicks and reads.
 */

const chromium = findChromium()
const WHY_NOT =
  chromium === null ? ' (skipped: no Chromium; apt-get install chromium, or CHROMIUM_PATH)' : ''
const walk = (title: string, way: (t: ExecutionContext) => Promise<void>) =>
  (chromium === null ? test.skip : test.serial)(`${title}${WHY_NOT}`, async (t) => {
    t.timeout(420_000)
    await way(t)
  })

let deployment: Deployment
let browser: Browser
let url = ''
/** Where the test wallet pays. */
let rpc = ''
/** What some page is not fit for: width, contrast, names; found on the way and told by a test of its own. */
const unfit: string[] = []

test.before(async (t) => {
  t.timeout(180_000)
  if (chromium === null) return
  deployment = await deploy('embedded', [], { SIMULATOR_HISTORY_HOURS: '26' })
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

/** Notes what the page as it stands is not fit for: both themes, and a phone of 320 pixels. */
async function inspect({ page }: Visitor, name: string): Promise<void> {
  const told = (what: string) => (fault: string) => unfit.push(`${name}, ${what}: ${fault}`)
  ;(await accessibilityFaults(page)).forEach(told('light'))
  await page.emulateMedia({ colorScheme: 'dark' })
  ;(await accessibilityFaults(page, RULES_OF_COLOUR)).forEach(told('dark'))
  const size = page.viewportSize()
  await page.setViewportSize({ width: 320, height: 640 })
  const wider = await sidewaysScroll(page)
  if (wider > 0) told('320 pixels wide')(`scrolls sideways by ${wider} pixels`)
  await page.emulateMedia({ colorScheme: 'light' })
  if (size) await page.setViewportSize(size)
}

/** Pages that show what happens on the chain. */
const OF_THE_MARKET = ['Live trades', 'Wallets', 'Trending', 'Signals']

/** Waits until a page shows it; on a new installation the history of a day is fetched first. */
async function alive(page: Page, name: string): Promise<void> {
  if (!OF_THE_MARKET.includes(name)) return
  if (name !== 'Wallets')
    await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
  const firstRow = page.getByRole('main').getByRole('row').nth(1) // below the head
  await firstRow.waitFor({ timeout: 180_000 })
}

async function statusWith(bearer: string, path: string): Promise<number> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${bearer}` } })
  await response.arrayBuffer()
  return response.status
}

walk('from the front page to the account with the keyboard alone', async (t) => {
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
  // Who reads by ear is told where they are.
  t.is(await page.evaluate('document.activeElement.textContent'), 'Account')
  t.deepEqual(visitor.faults, [])
})

walk(
  'a page says what it waits for, what went wrong and what to do then, and is whole once the answer is good',
  async (t) => {
    const visitor = await open(t)
    const { page, context } = visitor
    const main = page.getByRole('main')
    const alert = (says: string) => main.getByRole('alert').filter({ hasText: says })
    await page.routeWebSocket(/\/ws$/, () => {}) // opens, and says nothing
    await page.goto(`${url}/dashboard`)

    const nonces = await standBetween(page, { path: '/auth/nonce' })
    nonces.answer((route) => route.abort())
    await connectButton(page).click()
    await signInButton(page).click()
    const signInAgain = alert('The service does not answer.').getByRole('button')
    await signInAgain.waitFor()
    nonces.recover()

    const [first, ...others] = ASKING_PAGES
    let service = await standBetween(page, first)
    await signInAgain.click()
    for (const asking of [first, ...others]) {
      const { place, asks, isSample = false } = asking
      const isEnded = ['/usage', '/trending'].includes(place) // a wallet may sign in a few times a minute
      if (asking !== first) {
        service = await standBetween(page, asking)
        await page.evaluate(`location.hash = '#${place}'`)
      }
      const ask = async () => {
        if (asking.offer) await main.getByRole('button', { name: asking.offer }).click()
      }
      await ask()
      await main.getByRole('status').getByText(asking.loading, { exact: true }).waitFor()
      if (isSample) await inspect(visitor, `${place}, loading`)

      let askAgain = async () => {}
      for (const { answer, says, leadsTo, isOffline = false } of troublesOf(asking)) {
        await context.setOffline(isOffline)
        service.answer(answer)
        await askAgain()
        const told = alert(says)
        t.is(await told.locator('p').first().textContent(), says, place)
        if (leadsTo) t.is(await told.getByRole('link').getAttribute('href'), leadsTo)
        if (isOffline) await main.getByRole('status').getByText('You are offline').waitFor()
        const button = asking.again
          ? main.getByRole('button', { name: asking.again })
          : main.getByRole('alert').getByRole('button', {
              name: asks === 'key' ? /^Try again \(\d credits?\)$/ : /^Try again$/,
            })
        askAgain = () => button.click()
      }
      if (isSample) await inspect(visitor, `${place}, refused`)
      await context.setOffline(false)

      if (isEnded) {
        service.answer(sessionEnded)
        await askAgain()
        await main.getByText('Your sign-in has expired.').waitFor()
        if (isSample) await inspect(visitor, `${place}, signed out`)
        service.recover()
        await signInButton(page).click()
      } else if (asks === 'key') {
        // What was refused at last is the key.
        service.recover()
        const other = `tw_${String(ASKING_PAGES.indexOf(asking)).repeat(43)}`
        await main.getByLabel('API key', { exact: true }).fill(other)
        await main.getByRole('button', { name: 'Use this key' }).click()
        await ask()
      } else {
        service.recover()
        await askAgain()
      }
      await main.getByText(asking.good).waitFor()
      t.is(await main.getByRole('alert').filter({ hasText: /./ }).count(), 0, place)
      if (isSample) await inspect(visitor, `${place}, empty`)
      await service.leave()
    }

    await page.evaluate("location.hash = '#/tokens/xyz'")
    await main.getByText('xyz is no token address.').waitFor()
    await page.evaluate("location.hash = '#/account'")
    await page.route('**/auth/logout', (route) => route.abort())
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await alert('You are signed out here, but the service did not confirm it').waitFor()
    await page.evaluate("location.hash = '#/wallets/W1'")
    await main.getByLabel('API key', { exact: true }).waitFor() // and no second one
    // Chromium prints each answer that is none.
    t.deepEqual(
      visitor.faults.filter((fault) => !/Failed to load resource/.test(fault)),
      [],
    )
  },
)

walk(
  'a customer signs in, pays, calls until nothing is left, tops up, buys Pro, rotates the key and signs out',
  async (t) => {
    const visitor = await open(t)
    const { page } = visitor
    const secrets: string[] = []
    page.on('response', async (response) => {
      if (response.url() !== `${url}/auth/login` || !response.ok()) return
      const { token } = (await response.json()) as { token: string } // rule E1
      secrets.push(token)
    })
    const shownKey = async () => {
      const code = page.getByRole('main').getByText(/^tw_/)
      const key = (await code.textContent()) ?? ''
      secrets.push(key)
      await page.getByRole('button', { name: 'Copy API key' }).click()
      await page.getByText('Copied.').waitFor()
      t.is(await pasted(page), key)
      await page.getByRole('button', { name: 'I have stored it' }).click()
      await code.waitFor({ state: 'detached' })
      t.false((await page.content()).includes(key))
      return key
    }

    await page.goto(`${url}/dashboard`)
    await signIn(page)
    await page.getByText(/^tw_/).waitFor()
    await inspect(visitor, 'account with a key')
    const key = await shownKey()
    t.is(await statusWith(key, '/wallets'), 402)

    await goTo(page, 'Top up')
    await payCredits(page, '0.02')
    await page.getByRole('progressbar').waitFor()
    await inspect(visitor, 'Top up, looking for a payment')
    await goTo(page, 'Pro')
    await pay(page)
    await lookFor(page, /^Pro is active/)
    await inspect(visitor, 'Pro')
    await goTo(page, 'Top up')
    await lookFor(page, /^20 credits added/)

    const show = async (name: string) => {
      await goTo(page, name)
      await buyView(page)
      await alive(page, name)
      await inspect(visitor, name)
    }
    const names = ['Account', 'Top up', 'Pro', 'Usage', ...OF_THE_MARKET]
    t.deepEqual(await viewNames(page), names)
    await show('Live trades')
    await page.getByText(/^Your credits are used up/).waitFor({ timeout: 60_000 })
    t.is(await statusWith(key, '/wallets'), 402)
    await goTo(page, 'Top up')
    await payCredits(page, '1')
    // While that becomes final, what costs no credits.
    for (const name of ['Usage', 'Trending', 'Signals']) await show(name)
    await goTo(page, 'Top up')
    await lookFor(page, /^1,000 credits added/)
    await show('Wallets')
    await openDetails(page, 'wallets')
    await inspect(visitor, 'a wallet')
    await goTo(page, 'Trending')
    await openDetails(page, 'tokens')
    await inspect(visitor, 'a token')

    await goTo(page, 'Account')
    await page.getByRole('button', { name: 'Rotate API key' }).click()
    await page.getByRole('button', { name: 'Replace the key now' }).click()
    const next = await shownKey()
    t.deepEqual([await statusWith(key, '/wallets'), await statusWith(next, '/wallets')], [401, 200])

    const kept = await keptTexts(visitor)
    t.true(secrets.length >= 3 && secrets.every((secret) => secret.length > 30))
    t.deepEqual(
      secrets.filter((secret) => kept.includes(secret)),
      [],
    )
    await page.reload()
    await signIn(page)
    await page.getByText(`Your key ends in ${next.slice(-4)}`).waitFor()
    t.is(await page.getByText(/tw_/).count(), 0)
    const [token = ''] = secrets.slice(-1)
    t.is(await statusWith(token, '/me/api'), 200)
    // What the account lists of it, and the way out of every browser.
    const events = page.getByRole('table', { name: 'Recent events, newest first' })
    await events.getByRole('row').filter({ hasText: 'API key replaced' }).waitFor()
    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await inspect(visitor, 'signing out everywhere')
    await page.getByRole('button', { name: 'Sign out everywhere now' }).click()
    await connectButton(page).waitFor()
    t.is(await statusWith(token, '/me/api'), 401)
    await signIn(page)
    await page.getByText(`Your key ends in ${next.slice(-4)}`).waitFor()
    const [last = ''] = secrets.slice(-1)
    t.is(await statusWith(last, '/me/api'), 200)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await connectButton(page).waitFor()
    t.is(
      await until(
        () => statusWith(last, '/me/api'),
        (status) => status !== 200,
      ),
      401,
    )
    t.deepEqual(visitor.faults, [])
  },
)

walk(
  'every page reads well: for screen readers, in light and dark, on a narrow phone',
  async (t) => {
    t.deepEqual(unfit, [])
  },
)

/** What a paste gives: the page itself may not read the clipboard (`Permissions-Policy`). */
async function pasted(page: Page): Promise<string> {
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
