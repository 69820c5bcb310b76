import type { SessionEnd } from './stream-session.ts'
import { type Selection, selectionAfter, selectionFor } from './wallet-selection.ts'

/** Settings of subscriptions to this server, adapted to its refusals. */
export interface StreamSettings {
  /** False once the server said that it replays no slots. */
  readonly replays: boolean
  /**
   * Maximum number of addresses that the server accepts in one filter; undefined: no limit is
   * known.
   */
  readonly addressesPerFilter: number | undefined
  /**
   * How transactions of wallets are selected; null: by their number (rule K24). `whole`, the last
   * one, for a subscription without wallets.
   */
  readonly selection: Selection | null
}

/**
 * Action after a stream ended, before the next one opens with `settings`.
 * - `reopen`: open it at once.
 * - `back_off`: pause first. `clear` drops all unsealed slots, to free memory.
 * - `catch_up`: first read over RPC the slots below `oldest`, the lowest slot that the server can
 *   replay; null when the server does not say. Pause only if that sealed nothing.
 */
export type Reconnect =
  | { readonly kind: 'reopen'; readonly settings: StreamSettings }
  | { readonly kind: 'back_off'; readonly settings: StreamSettings; readonly clear: boolean }
  | {
      readonly kind: 'catch_up'
      readonly settings: StreamSettings
      readonly oldest: number | null
    }

/**
 * Decides from how a stream ended what follows. A refusal that changes the settings is followed by
 * an immediate new stream; the same refusal again backs off. `wallets`: how many are tracked.
 */
export function planReconnect(end: SessionEnd, settings: StreamSettings, wallets = 0): Reconnect {
  switch (end.kind) {
    case 'out_of_range':
      return { kind: 'catch_up', settings, oldest: end.oldest }
    case 'no_replay':
      return settings.replays
        ? { kind: 'reopen', settings: { ...settings, replays: false } }
        : { kind: 'back_off', settings, clear: false }
    case 'too_many_addresses': {
      const addressesPerFilter = end.most > 0 ? end.most : undefined
      const changed = { ...settings, addressesPerFilter }
      return addressesPerFilter !== undefined && addressesPerFilter !== settings.addressesPerFilter
        ? { kind: 'reopen', settings: changed }
        : { kind: 'back_off', settings: changed, clear: false }
    }
    case 'filter_refused': {
      const selection = selectionAfter(selectionFor(wallets, settings.selection))
      return selection === null
        ? { kind: 'back_off', settings, clear: false }
        : { kind: 'reopen', settings: { ...settings, selection } }
    }
    case 'behind':
      return { kind: 'back_off', settings, clear: true }
    case 'refused':
    case 'failed':
    case 'silent':
    case 'closed':
      return { kind: 'back_off', settings, clear: false }
  }
}
