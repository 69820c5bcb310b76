import type { Locator, Page } from 'playwright-core'
import { until } from '../whole-service/customer.ts'

/*
 * The steps of a customer in the dashboard. Elements are found by role and name, as a screen reader
 * presents them. Each step resolves when the page shows its result.
 */

/** Returns the button that connects the simulator's test wallet. */
export function connectButton(page: Page): Locator {
  return page.getByRole('button', { name: 'Connect Test wallet' })
}

/** Returns the button that asks the connected wallet to sign. */
export function signInButton(page: Page): Locator {
  return page.getByRole('button', { name: 'Sign in', exact: true })
}

/** Signs in on the sign-in page. Resolves when the page with `heading` is shown. */
export async function signInWithWallet(page: Page, heading = 'Account'): Promise<void> {
  await connectButton(page).click()
  await signInButton(page).click()
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
}

/** Returns the texts of the navigation links in order. They are the headings of the pages. */
export function pageNames(page: Page): Promise<string[]> {
  return navigation(page).getByRole('link').allTextContents()
}

function navigation(page: Page): Locator {
  return page.getByRole('navigation', { name: 'Dashboard' })
}

/** Opens a page by its navigation link, and waits until it is loaded. */
export async function goTo(page: Page, name: string): Promise<void> {
  await navigation(page).getByRole('link', { name, exact: true }).click()
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  await waitUntilLoaded(page)
}

/** Waits until the page shows no "Loading" text. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page
    .getByRole('main')
    .getByText(/^Loading/)
    .first()
    .waitFor({ state: 'detached' })
}

/** Clicks every button of the page that loads data for credits. */
export async function loadPaidData(page: Page): Promise<void> {
  const buttons = page.getByRole('main').getByRole('button', { name: LOAD_BUTTON })
  for (let rest = await buttons.count(); rest > 0 && (await buttons.count()) > 0; rest--) {
    await buttons.first().click()
    await waitUntilLoaded(page)
  }
}

/** Refreshes the leaderboard until it has wallets. A new installation first fetches history. */
export async function waitForLeaderboard(page: Page): Promise<void> {
  const main = page.getByRole('main')
  const row = main.getByRole('row').nth(1) // below the header
  const refresh = main.getByRole('button', { name: 'Refresh (1 credit)' })
  await until(
    async () => {
      await refresh.waitFor()
      if (await row.isVisible()) return true
      await refresh.click()
      await waitUntilLoaded(page)
      return false
    },
    (isShown) => isShown,
  )
}

/** “Load the positions of W1 (1 credit)”, “Start (3 credits, …)”; not “Load 200 older swaps …”. */
const LOAD_BUTTON = /^(Start|Load (?!\d).+) \(\d+ credit/

/**
 * Opens the page of a token or a wallet and loads all its data: that of the first link on the page.
 * Of a wallet, all positions and the history of the first one are shown.
 */
export async function openDetails(page: Page, kind: 'wallets' | 'tokens'): Promise<void> {
  await page.getByRole('main').locator(`a[href^="#/${kind}/"]`).first().click()
  const title = kind === 'wallets' ? /^Wallet W/ : /^Token/
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  await loadPaidData(page)
  if (kind === 'wallets') {
    // At some hours of the simulated market, a wallet has no open position.
    await page.getByLabel('Positions', { exact: true }).selectOption('all')
    await loadPaidData(page)
    await page
      .getByRole('button', { name: /^Show the position history/ })
      .first()
      .click()
    await loadPaidData(page)
  }
  await page.locator('.uplot canvas').first().waitFor()
}

/** Pays an amount of USDT such as `12.50` on the top-up page, from the test wallet. */
export async function payForCredits(page: Page, usdt: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Amount in USDT' }).fill(usdt)
  await payShownPrice(page)
}

/** Pays the price on the page from the test wallet. The page then checks for the deposit. */
export async function payShownPrice(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Pay with the test wallet' }).click()
  await page
    .getByRole('status')
    .filter({ hasText: /^Payment sent\.$/ })
    .waitFor()
}

/**
 * Checks for deposits until the page says `text`. A payment is finalized 32 slots after it was
 * sent.
 */
export async function waitForPayment(page: Page, text: RegExp): Promise<void> {
  const check = page.getByRole('button', { name: 'Check for deposits' })
  if (await check.isEnabled()) await check.click()
  await page.getByRole('status').filter({ hasText: text }).waitFor({ timeout: 60_000 })
}

/**
 * Presses Tab until the element has the focus. Throws if `maxSteps` do not reach it, or if the
 * focus is not visible.
 */
export async function tabTo(page: Page, target: Locator, maxSteps = 40): Promise<void> {
  await target.waitFor()
  for (let step = 0; step < maxSteps; step++) {
    await page.keyboard.press('Tab')
    const focus = await target.evaluate(focusOf)
    if (focus === 'hidden') throw new Error('the focus is not visible')
    if (focus === 'shown') return
  }
  throw new Error(`${maxSteps} times Tab did not reach the element`)
}

/** Whether an element has the focus, and whether its outline is visible. Runs in the page. */
function focusOf(element: Element): 'elsewhere' | 'shown' | 'hidden' {
  const { activeElement, defaultView } = element.ownerDocument
  if (activeElement !== element) return 'elsewhere'
  const { outlineStyle, outlineWidth } = defaultView.getComputedStyle(element)
  return outlineStyle !== 'none' && outlineWidth !== '0px' ? 'shown' : 'hidden'
}

/** The members of a DOM element that `focusOf` uses. This program has no DOM types. */
interface Element {
  readonly ownerDocument: {
    readonly activeElement: unknown
    readonly defaultView: {
      getComputedStyle(of: Element): {
        readonly outlineStyle: string
        readonly outlineWidth: string
      }
    }
  }
}
