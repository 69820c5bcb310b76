import { formatUtcTime, groupThousands } from './amounts.ts'
import type { StatusResponse } from './responses.ts'

const EVERY_MS = 5000

/** Updates the status on the front page, and repeats every 5 s while the page is visible. */
async function update(): Promise<void> {
  if (document.visibilityState === 'visible') {
    try {
      const response = await fetch('/status', { cache: 'no-store' })
      if (!response.ok) throw new Error(`status ${response.status}`)
      show((await response.json()) as StatusResponse) // `GET /status`
    } catch {
      put('state', 'not reachable')
    }
  }
  setTimeout(update, EVERY_MS)
}

function show({ storage, feed, lag_seconds: lag }: StatusResponse): void {
  put('state', storage.slot === null ? 'starting' : 'running')
  put('slot', storage.slot === null ? '–' : groupThousands(storage.slot))
  put('time', storage.block_time === null ? '–' : formatUtcTime(storage.block_time))
  put('lag', lag === null ? '–' : `${groupThousands(lag)} s`)
  put('connections', groupThousands(feed.connections))
}

function put(name: string, text: string): void {
  const element = document.querySelector(`[data-status="${name}"]`)
  if (element !== null && element.textContent !== text) element.textContent = text
}

void update()
