import type { Browser, BrowserContext, Page } from 'playwright-core'

/** How long a test waits for an element, in milliseconds. */
export const WAIT_MS = 30_000

/** A browser window with an empty profile. */
export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  /**
   * Violations so far, in order: requests to other hosts, console errors (including CSP
   * violations), and uncaught errors.
   */
  readonly violations: readonly string[]
  close(): Promise<void>
}

/** Options for opening a window. */
export interface VisitorOptions {
  /** Origins that the page may send requests to. */
  readonly allowed: readonly string[]
  readonly theme?: 'light' | 'dark'
  /** Size of the window in pixels. */
  readonly width?: number
  readonly height?: number
}

/**
 * Opens a window and records its violations. Chromium prints an error for each 402 and 403, which
 * are part of the tests, so these are not violations.
 */
export async function openVisitor(browser: Browser, options: VisitorOptions): Promise<Visitor> {
  const { allowed, theme = 'light', width = 1280, height = 800 } = options
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    permissions: ['clipboard-write'],
  })
  const page = await context.newPage()
  page.setDefaultTimeout(WAIT_MS)
  const violations: string[] = []
  const checkOrigin = (url: string) => {
    const { protocol, origin } = new URL(url.replace(/^ws/, 'http'))
    if (protocol === 'data:' || protocol === 'blob:' || allowed.includes(origin)) return
    violations.push(`request to ${origin}`)
  }
  context.on('request', (request) => checkOrigin(request.url()))
  page.on('websocket', (socket) => checkOrigin(socket.url()))
  page.on('pageerror', (error) => violations.push(`uncaught: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() !== 'error' || /status of 40[23]\b/.test(text)) return
    violations.push(`console: ${text} (${message.location().url})`)
  })
  return { context, page, violations, close: () => context.close() }
}

/**
 * Returns everything that the page stores where a later visitor or script could read it: storage,
 * cookies, URL and history.
 */
export async function readStoredData({ context, page }: Visitor): Promise<string> {
  const stored = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.cookie, history.state, window.name])',
  )
  return `${stored}${JSON.stringify(await context.cookies())}`
}

/** Returns by how many pixels the page is wider than its window. */
export function sidewaysScroll(page: Page): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
}
