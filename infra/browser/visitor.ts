import type { Browser, BrowserContext, Page } from 'playwright-core'

/** How long anything that a page is to show may take, in milliseconds; a test waits for what it looks for, never for a time. */
export const PATIENCE_MS = 30_000

/** Somebody with a browser of its own: nothing is stored in it yet. */
export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  /** What no page may do, in order: requests to hosts that are not allowed, errors on the console (broken policies are among them), errors that nobody caught. */
  readonly faults: readonly string[]
  close(): Promise<void>
}

export interface VisitorOptions {
  /** Origins that may be asked. */
  readonly allowed: readonly string[]
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
}

/** Opens a window. Answers of 402 are no fault: Chromium prints what did not succeed, and running out of credits is part of the way. */
export async function openVisitor(browser: Browser, options: VisitorOptions): Promise<Visitor> {
  const { allowed, theme = 'light', width = 1280, height = 800 } = options
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    permissions: ['clipboard-write'],
  })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const faults: string[] = []
  const look = (url: string) => {
    const { protocol, origin } = new URL(url.replace(/^ws/, 'http'))
    if (protocol === 'data:' || protocol === 'blob:' || allowed.includes(origin)) return
    faults.push(`request to ${origin}`)
  }
  context.on('request', (request) => look(request.url()))
  page.on('websocket', (socket) => look(socket.url()))
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() !== 'error' || /status of 402\b/.test(text)) return
    faults.push(`console: ${text} (${message.location().url})`)
  })
  return { context, page, faults, close: () => context.close() }
}

/** All that the page keeps where a later visitor of this browser, or a script of another time, could read it: storage, cookies, address and history. */
export async function keptTexts({ context, page }: Visitor): Promise<string> {
  const stored = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.cookie, history.state, window.name])',
  )
  return `${stored}${JSON.stringify(await context.cookies())}`
}

/** How many pixels the page is wider than its window: what a reader would have to scroll sideways. */
export function sidewaysScroll(page: Page): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
}
