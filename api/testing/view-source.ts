import { EXAMPLE_SIGNAL } from '../items/signal.ts'
import { EXAMPLE_WATCHLIST_ITEM } from '../items/watchlist.ts'
import type { ViewRow, ViewSource } from '../stream/view-rows.ts'

/** A change of one mint at a tick. */
export interface ViewChange {
  readonly mint: string
  readonly event: 'entered' | 'changed' | 'left' | 'fired'
}

/**
 * Ticks in memory, driven by the test. Of a mint only the age changes, so it shows the tick of a
 * message.
 */
export function memoryViews() {
  const ticks = new Map<number, readonly ViewRow[]>()
  let newest: number | null = null
  /** `failures` reads reject. */
  const state = { failures: 0, reads: 0 }
  const read = <T>(rows: T): T => {
    state.reads++
    if (state.failures-- > 0) throw new Error('down')
    return rows
  }
  const rowsThrough = (at: number) =>
    [...ticks].filter(([tick]) => tick <= at).flatMap(([, rows]) => rows)
  const source: ViewSource = {
    newestTick: async () => newest,
    async snapshot(at) {
      const listed = new Map<string, ViewRow>()
      const rows = read(rowsThrough(at))
      for (const row of rows) {
        if (row.event === 'left') listed.delete(row.mint)
        else if (row.channel === 'watchlist') listed.set(row.mint, row)
      }
      const list = [...listed.values()].sort((a, b) => (a.mint < b.mint ? -1 : 1))
      const fired = rows.filter((row) => row.event === 'fired').slice(-25)
      return [...list.map((row) => listRow(row.mint, at, 'snapshot')), ...fired].map((row) => ({
        ...row,
        at,
        event: 'snapshot',
      }))
    },
    changes: async (after, through) => read(rowsThrough(through)).filter((row) => row.at > after),
  }
  return {
    source,
    state,
    /** Adds a tick with changes by mint. */
    tick(at: number, changes: readonly ViewChange[] = []): void {
      const rows = changes.map(({ mint, event }) =>
        event === 'fired' ? signalRow(mint, at) : listRow(mint, at, event),
      )
      ticks.set(at, [
        ...rows.filter(({ channel }) => channel === 'watchlist'),
        ...rows.filter(({ channel }) => channel === 'signals'),
      ])
      newest = at
    },
  }
}

function listRow(mint: string, at: number, event: ViewRow['event']): ViewRow {
  const data =
    event === 'left'
      ? { mint, symbol: 'A', name: 'B' }
      : { ...EXAMPLE_WATCHLIST_ITEM, mint, age_seconds: at }
  return { channel: 'watchlist', at, mint, event, render: () => JSON.stringify(data) }
}

function signalRow(mint: string, at: number): ViewRow {
  const data = { ...EXAMPLE_SIGNAL, mint, fired_at: at }
  return { channel: 'signals', at, mint, event: 'fired', render: () => JSON.stringify(data) }
}
