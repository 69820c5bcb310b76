import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Path of Chromium from Debian's package `chromium`. */
const DEBIAN_PATH = '/usr/bin/chromium'

/** Returns the path of Chromium: `CHROMIUM_PATH`, else Debian's. Null if there is none. */
export function findChromium(): string | null {
  const path = process.env.CHROMIUM_PATH ?? DEBIAN_PATH
  return existsSync(path) ? path : null
}

/** Starts Chromium headless with an empty profile. Its sandbox does not work for the user root. */
export function launchChromium(executablePath: string): Promise<Browser> {
  const isRoot = process.getuid?.() === 0
  return chromium.launch({
    executablePath,
    chromiumSandbox: !isRoot,
    args: ['--disable-dev-shm-usage', '--disable-gpu', '--disable-quic'],
  })
}
