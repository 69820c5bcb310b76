import type { Locator, Page } from 'playwright-core'

/*
 * The customer's way through the dashboard, found by what a screen reader tells: roles and names. Each step resolves when the page shows that it is done.
 */

/** The button that connects the simulator's wallet. */
export function connectButton(page: Page): Locator {
  return page.getByRole('button', { name: 'Connect Test wallet' })
}

export function signInButton(page: Page): Locator {
  return page.getByRole('button', { name: 'Sign in', exact: true })
}

/** From a page that asks to sign in to the page `heading`. */
export async function signIn(page: Page, heading = 'Account'): Promise<void> {
  await connectButton(page).click()
  await signInButton(page).click()
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
}

/** What the navigation leads to, in its order: the names of its links, which are the headings of the pages. */
export function viewNames(page: Page): Promise<string[]> {
  return navigation(page).getByRole('link').allTextContents()
}

function navigation(page: Page): Locator {
  return page.getByRole('navigation', { name: 'Dashboard' })
}

/** Goes to a page by its link and waits until what it shows has come. */
export async function goTo(page: Page, name: string): Promise<void> {
  await navigation(page).getByRole('link', { name, exact: true }).click()
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  await settled(page)
}

/** Waits until nothing of the page is on its way any more. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page
    .getByRole('main')
    .getByText(/^Loading/)
    .first()
    .waitFor({ state: 'detached' })
}

/** Has a page show everything that it offers for credits; nothing elsewhere. */
export async function buyView(page: Page): Promise<void> {
  const offers = page.getByRole('main').getByRole('button', { name: OFFER })
  for (let most = await offers.count(); most > 0 && (await offers.count()) > 0; most--) {
    await offers.first().click()
    await settled(page)
  }
}

/** “Load the holdings of W1 (1 credit)”, “Start (3 credits, then 1 a trade)”; not what was loaded already. */
const OFFER = /^(Start|Load (?!again\b).+) \(\d+ credit/

/**
 * Follows the first link of the page to a token, or to the wallet with most in open positions, and
 * has it show everything, with the history of a wallet's first position.
 */
export async function openDetails(page: Page, kind: 'wallets' | 'tokens'): Promise<void> {
  // At some hours the simulated market leaves W1 without any position.
  if (kind === 'wallets') await page.getByRole('button', { name: 'In open positions' }).click()
  await page.getByRole('main').locator(`a[href^="#/${kind}/"]`).first().click()
  const title = kind === 'wallets' ? /^Wallet W/ : /^Token/
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  await buyView(page)
  if (kind === 'wallets') {
    await page
      .getByRole('button', { name: /^Show the history of the position/ })
      .first()
      .click()
    await buyView(page)
  }
  await page.locator('.uplot canvas').first().waitFor()
}

/** On the top-up page: pays so much USDT, `12.50`, from the test wallet. */
export async function payCredits(page: Page, usdt: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Amount in USDT' }).fill(usdt)
  await pay(page)
}

/** On a page with a price: pays it from the test wallet. The page then looks for the payment by itself. */
export async function pay(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Pay with the test wallet' }).click()
  await page
    .getByRole('status')
    .filter({ hasText: /^Sent\.$/ })
    .waitFor()
}

/** Has the page look for payments, where it does not do so already, until one was found, which it says in `words`. A payment is finalized 32 slots after it was sent. */
export async function lookFor(page: Page, words: RegExp): Promise<void> {
  const check = page.getByRole('button', { name: 'Check for deposits' })
  if (await check.isEnabled()) await check.click()
  await page.getByRole('status').filter({ hasText: words }).waitFor({ timeout: 60_000 })
}

/** Presses Tab until the element has the focus, and makes sure that it shows; what is not reached in `most` steps cannot be reached by keyboard. */
export async function tabTo(page: Page, target: Locator, most = 40): Promise<void> {
  await target.waitFor()
  for (let steps = 0; steps < most; steps++) {
    await page.keyboard.press('Tab')
    const focus = await target.evaluate(focusOf)
    if (focus === 'hidden') throw new Error('the focus cannot be seen')
    if (focus === 'shown') return
  }
  throw new Error(`not reached by ${most} times Tab`)
}

/** Whether the focus is on an element, and whether it shows there. Runs in the page. */
function focusOf(element: Element): 'elsewhere' | 'shown' | 'hidden' {
  const { activeElement, defaultView } = element.ownerDocument
  if (activeElement !== element) return 'elsewhere'
  const { outlineStyle, outlineWidth } = defaultView.getComputedStyle(element)
  return outlineStyle !== 'none' && outlineWidth !== '0px' ? 'shown' : 'hidden'
}

/** An element, as far as `focusOf` needs one: the types of browsers are not among those of this program. */
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
