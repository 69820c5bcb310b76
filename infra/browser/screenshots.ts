import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { deploy } from '../whole-service/deployment.ts'
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
  viewNames,
} from './customer.ts'
import { openVisitor } from './visitor.ts'

const USAGE = `npm run screenshots -- --out DIR [options]

Walks every page of a service over the simulator as a customer with credits and Pro, and writes a picture of each as DIR/NN-name-SIZE-THEME.png.

  --out DIR     where to
  --url URL     a service that runs already, with the simulator (else one is started)`

const SIZES = [
  { size: 'desktop', width: 1280, height: 800 },
  { size: 'phone', width: 390, height: 844 },
] as const

const THEMES = ['light', 'dark'] as const

let taken = 0
const say = (line: string) => process.stderr.write(`${line}\n`)

const { values } = parseArgs({
  options: { out: { type: 'string' }, url: { type: 'string' }, help: { type: 'boolean' } },
})
const chromium = findChromium()
if (values.help || values.out === undefined) fail(USAGE)
if (chromium === null) fail('no Chromium: apt-get install chromium, or set CHROMIUM_PATH')
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
  await shoot(page, 'service')
  await page.goto(`${url}/dashboard`)
  await connectButton(page).waitFor()
  await shoot(page, 'connect')
  await signIn(page)
  await page.getByText(/^tw_/).waitFor()
  await shoot(page, 'first key')
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await goTo(page, 'Top up')
  await payCredits(page, '5')
  await goTo(page, 'Pro')
  await pay(page)
  await shoot(page, 'waiting')
  await lookFor(page, /^Pro is active/)
  await goTo(page, 'Top up')
  await lookFor(page, /credits added/)
  for (const name of await viewNames(page)) {
    await goTo(page, name)
    await buyView(page)
    await shoot(page, name)
  }
  for (const kind of ['wallets', 'tokens'] as const) {
    await goTo(page, 'Wallets')
    if (kind === 'tokens') await goTo(page, 'Trending')
    await openDetails(page, kind)
    await shoot(page, kind === 'wallets' ? 'wallet' : 'token')
  }
} finally {
  await browser.close()
  await deployment?.remove()
}

/** Writes a page in every size and theme. */
async function shoot(page: Page, name: string): Promise<void> {
  taken += 1
  const title = `${String(taken).padStart(2, '0')}-${name.toLowerCase().replaceAll(' ', '-')}`
  for (const { size, width, height } of SIZES) {
    await page.setViewportSize({ width, height })
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme })
      const path = join(out, `${title}-${size}-${colorScheme}.png`)
      await page.screenshot({ path, fullPage: true })
      say(path)
    }
  }
}

function fail(text: string): never {
  say(text)
  process.exit(2)
}
