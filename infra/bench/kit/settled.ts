import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../../../pipeline/store/store.ts'

const MOST_SECONDS = 300

/**
 * Resolves when ClickHouse has merged so much data, or has tried for five minutes: a real service
 * stores its history over a longer time.
 */
export async function settled(store: Store): Promise<void> {
  for (let second = 0; second < MOST_SECONDS; second++) {
    const [merges] = await store.query<{ running: number }>(
      'SELECT toUInt32(count()) AS running FROM system.merges WHERE database = currentDatabase()',
    )
    if (merges?.running === 0) return
    await pause(1000)
  }
}
