import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { deploy } from '../whole-service/deployment.ts'
import { findChromium, launchChromium } from './chromium.ts'
import {
  connectButton,
  goTo,
  loadPaidData,
  openDetails,
  pageNames,
  payForCredits,
  payShownPrice,
  signInWithWallet,
  waitForLeaderboard,
  waitForPayment,
} from './customer.ts'
import { openVisitor } from './visitor.ts'

const USAGE = `npm run screenshots -- --out DIR [options]

Takes a screenshot of every page of the dashboard as a customer with credits and Pro, in each size
and theme: DIR/NN-name-SIZE-THEME.png.

  --out DIR     directory for the screenshots
  --url URL     a running service with the simulator (default: start one)`

const SIZES = [
  { size: 'desktop', width: 1280, height: 800 },
  { size: 'phone', width: 390, height: 844 },
] as const

const THEMES = ['light', 'dark'] as const

let count = 0
const say = (line: string) => process.stderr.write(`${line}\n`)

const { values } = parseArgs({
  options: { out: { type: 'string' }, url: { type: 'string' }, help: { type: 'boolean' } },
})
const chromium = findChromium()
if (values.help || values.out === undefined) fail(USAGE)
if (chromium === null) fail('Chromium is missing: apt-get install chromium, or set CHROMIUM_PATH')
const out = values.out
mkdirSync(out, { recursive: true })

const deployment =
  values.url === undefined ? await deploy('embedded', [], { SIMULATOR_HISTORY_HOURS: '26' }) : null
const browser = await launchChromium(chromium)
try {
  const url = values.url ?? (await deployment?.start('all').line('url')) ?? ''
  const { page } = await openVisitor(browser, { allowed: [] })
  await page.goto(url)
  await page.getByText('starting', { exact: true }).waitFor({ state: 'detached', timeout: 120_000 })
  await takeScreenshots(page, 'service')
  await page.goto(`${url}/dashboard`)
  await connectButton(page).waitFor()
  await takeScreenshots(page, 'connect')
  await signInWithWallet(page)
  await page.getByText(/^tw_/).waitFor()
  await takeScreenshots(page, 'first key')
  await page.getByRole('button', { name: 'I have saved the key' }).click()
  await goTo(page, 'Top up')
  await payForCredits(page, '5')
  await goTo(page, 'Pro')
  await payShownPrice(page)
  await takeScreenshots(page, 'waiting')
  await waitForPayment(page, /^Pro is active/)
  await goTo(page, 'Top up')
  await waitForPayment(page, /credits added/)
  const others = (await pageNames(page)).filter((name) => !['Wallets', 'Webhooks'].includes(name))
  for (const name of others) {
    await goTo(page, name)
    await loadPaidData(page)
    await takeScreenshots(page, name)
  }
  await takeWebhooks(page)
  await goTo(page, 'Wallets')
  await loadPaidData(page)
  await waitForLeaderboard(page)
  await page
    .getByRole('button', { name: /^Profit of W/ })
    .first()
    .click()
  await page.getByRole('img', { name: /^Profit over 30 days/ }).waitFor()
  await takeScreenshots(page, 'wallets')
  await openDetails(page, 'wallets')
  await takeScreenshots(page, 'wallet')
  await openDetails(page, 'tokens')
  await takeScreenshots(page, 'token')
  await page.keyboard.press('/')
  await page.getByRole('dialog').getByRole('searchbox').fill('w')
  await page.getByRole('button', { name: /^Load what/ }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'Wallet W1', exact: true }).waitFor()
  await takeScreenshots(page, 'search')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await takeScreenshots(page, 'shortcuts')
} finally {
  await browser.close()
  await deployment?.remove()
}

/** Takes the pages of webhooks, with one whose receiver does not exist. */
async function takeWebhooks(page: Page): Promise<void> {
  const main = page.getByRole('main')
  await goTo(page, 'Webhooks')
  await main.getByLabel('URL').fill('https://bot.example/trades')
  await main.getByRole('button', { name: /^Create webhook/ }).click()
  await main.getByText(/^whsec_/).waitFor()
  await main.getByRole('link', { name: 'https://bot.example/trades' }).waitFor()
  await takeScreenshots(page, 'webhooks')
  await main.getByRole('button', { name: 'I have saved the secret' }).click()
  await main.getByRole('link', { name: 'https://bot.example/trades' }).click()
  await main.getByRole('button', { name: /^Send a test/ }).click()
  await main.getByRole('row').nth(2).waitFor() // the test, and a delivery
  await main.getByText(/^Failing for/).waitFor()
  await takeScreenshots(page, 'webhook')
  await main.getByRole('button', { name: 'Delete webhook' }).click()
  await main.getByRole('button', { name: 'Delete webhook now' }).click()
  await main.getByText('You have no webhooks.').waitFor()
}

/** Takes a screenshot of the page in every size and theme. */
async function takeScreenshots(page: Page, name: string): Promise<void> {
  count += 1
  const title = `${String(count).padStart(2, '0')}-${name.toLowerCase().replaceAll(' ', '-')}`
  for (const { size, width, height } of SIZES) {
    await page.setViewportSize({ width, height })
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme })
      const path = join(out, `${title}-${size}-${colorScheme}.png`)
      await page.screenshot({ path, fullPage: true })
      say(path)
    }
  }
  // Some buttons of the next steps exist only on a wide screen.
  await page.setViewportSize(SIZES[0])
}

function fail(text: string): never {
  say(text)
  process.exit(2)
}
