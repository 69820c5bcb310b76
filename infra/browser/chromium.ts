import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Where Debian's package `chromium` puts it. */
const DEBIAN = '/usr/bin/chromium'

/** The browser to test with: `CHROMIUM_PATH`, else Debian's; null where neither is there. Nothing is ever downloaded. */
export function findChromium(): string | null {
  const path = process.env.CHROMIUM_PATH ?? DEBIAN
  return existsSync(path) ? path : null
}

/** Starts it without a window and with an empty profile. Its sandbox needs another user than root. */
export function launchChromium(executablePath: string): Promise<Browser> {
  const isRoot = process.getuid?.() === 0
  return chromium.launch({
    executablePath,
    chromiumSandbox: !isRoot,
    args: ['--disable-dev-shm-usage', '--disable-gpu', '--disable-quic'],
  })
}
