import { loadavg } from 'node:os'
import type { Browser, Page } from 'playwright-core'
import { findChromium, launchChromium } from '../browser/chromium.ts'
import { openVisitor } from '../browser/visitor.ts'
import { deploy } from '../whole-service/deployment.ts'
import { median, print, printHead, printRow, sum } from './kit/figures.ts'
import { readOptions } from './kit/options.ts'

const USAGE = `npm run bench -- dashboard [options]

  --visits N       first visits of each page, of which the medians are shown (7)
  --url URL        a service that runs already (else one is started over the simulator)
  --files          also what was loaded, file by file`

/**
 * Cost of a first visit to the dashboard: bytes as served (compressed, bodies alone), and the time
 * until the first button is usable, in headless Chromium on the same cores as the service, without
 * a cache. The test wallet, which real customers never load, is counted apart.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, { visits: 7, url: '', files: false })
  if (read === null) return
  const { options } = read
  const chromium = findChromium()
  if (chromium === null) return print('no Chromium: apt-get install chromium, or set CHROMIUM_PATH')
  // Without a history to fetch, so that the browser has the cores.
  const deployment = options.url === '' ? await deploy('embedded', []) : null
  const browser = await launchChromium(chromium)
  try {
    const url = (await deployment?.start('all').line('url')) ?? options.url
    print(`${browser.version()}; load average ${loadavg()[0]?.toFixed(1)}\n`)
    const bytes = ['script bytes', 'of the test wallet', 'all bytes']
    printHead('page', 'requests', ...bytes, 'first content ms', 'first button usable ms')
    for (const path of ['/', '/dashboard']) {
      const visits: Visit[] = []
      await visit(browser, `${url}${path}`) // what the service reads from disk, it reads once
      for (let n = 0; n < options.visits; n++) visits.push(await visit(browser, `${url}${path}`))
      const [{ files }] = visits as [Visit] // as many as requested
      const bytes = (which: (file: File) => boolean) => sum(files.filter(which).map((f) => f.bytes))
      const figures = [
        files.length,
        bytes((file) => file.isScript && !isTestWallet(file)),
        bytes(isTestWallet),
        bytes(() => true),
        median(visits.map((one) => one.contentMs)).toFixed(0),
        median(visits.map((one) => one.buttonMs)).toFixed(0),
      ]
      printRow(`\`${path}\``, ...figures)
      if (options.files)
        for (const file of files) print(`    ${String(file.bytes).padStart(7)} ${file.path}`)
    }
  } finally {
    await browser.close()
    await deployment?.remove()
  }
}

interface File {
  readonly path: string
  readonly isScript: boolean
  readonly bytes: number
}

interface Visit {
  readonly files: readonly File[]
  readonly contentMs: number
  readonly buttonMs: number
}

const isTestWallet = ({ path }: File) => path.startsWith('/dashboard/test-wallet')

/** Opens a page in a fresh browser and waits until its first button is usable. */
async function visit(browser: Browser, url: string): Promise<Visit> {
  const { page, close } = await openVisitor(browser, { allowed: [new URL(url).origin] })
  await page.addInitScript(FIRST_BUTTON)
  const files = filesOf(page)
  await page.goto(url, { waitUntil: 'load' })
  const buttonMs = await page.evaluate<number>('firstButton')
  await page.waitForLoadState('networkidle')
  const contentMs = await page.evaluate<number>(
    `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`,
  )
  const loaded = await Promise.all(files)
  await close()
  return { files: loaded.filter((file) => file !== null), contentMs, buttonMs }
}

/**
 * Milliseconds from the start of the visit to the first frame that has an enabled button, or a link
 * that looks like one.
 */
const FIRST_BUTTON = `
  globalThis.firstButton = new Promise((found) => {
    const look = () => {
      const all = [...document.querySelectorAll('button:not([disabled]), a.button')]
      if (all.some((element) => element.getClientRects().length > 0)) found(performance.now())
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })`

/** The resources that the page loads; null for an incomplete response. */
function filesOf(page: Page): Promise<File | null>[] {
  const files: Promise<File | null>[] = []
  page.on('requestfinished', (request) => {
    files.push(
      Promise.all([request.response(), request.sizes()]).then(
        ([response, { responseBodySize: bytes }]) => {
          const path = new URL(request.url()).pathname
          const isScript = /javascript/.test(response?.headers()['content-type'] ?? '')
          return { path, isScript, bytes }
        },
        () => null,
      ),
    )
  })
  return files
}
