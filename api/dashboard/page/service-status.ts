import { grouped, timeText } from './amounts.ts'
import type { Status } from './answers.ts'

const EVERY_MS = 5000

/** Fills the figures of the service's page, again and again while it is to be seen. */
async function fill(): Promise<void> {
  if (document.visibilityState === 'visible') {
    try {
      const response = await fetch('/status', { cache: 'no-store' })
      if (!response.ok) throw new Error('no status')
      show((await response.json()) as Status) // as documented
    } catch {
      put('state', 'does not answer')
    }
  }
  setTimeout(fill, EVERY_MS)
}

function show({ storage, feed, lag_seconds: lag }: Status): void {
  put('state', storage.slot === null ? 'starting' : 'running')
  put('slot', storage.slot === null ? '–' : grouped(storage.slot))
  put('time', storage.block_time === null ? '–' : timeText(storage.block_time))
  put('lag', lag === null || storage.slot === null ? '–' : `${grouped(lag)} s`)
  put('connections', grouped(feed.connections))
}

function put(name: string, text: string): void {
  const place = document.querySelector(`[data-status="${name}"]`)
  if (place !== null && place.textContent !== text) place.textContent = text
}

void fill()
