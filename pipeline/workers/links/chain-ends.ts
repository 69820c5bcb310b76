import { LRUCache } from 'lru-cache'
import type { Store } from '../../store/store.ts'
import {
  readSnapshotSlots,
  readSnapshots,
  SNAPSHOT_TX_INDEX,
} from '../../store/tables/balance-snapshots.ts'
import {
  type ChainKey,
  chainText,
  comparePlaces,
  type LinkPlace,
  readEndsBefore,
  type StoredLink,
  type Stretch,
} from '../../store/tables/links.ts'

/** What the newest link of an account ended with. */
export type ChainEnd = LinkPlace & { readonly after: bigint }

/** Accounts whose end is in memory. */
const MAX_ENDS = 200_000

/**
 * The ends of the chains of accounts (rule K8), which links in the order of the chain extend. Ends
 * that are not in memory come from storage, which has the links before them.
 */
export class ChainEnds {
  readonly #store: Store
  /** Null: nothing is known before the account's first link. */
  readonly #ends = new LRUCache<string, { end: ChainEnd | null }>({ max: MAX_ENDS })

  constructor(store: Store) {
    this.#store = store
  }

  /** Forgets everything: other processes may have stored links. */
  clear(): void {
    this.#ends.clear()
  }

  /** Forgets the accounts of wallets. */
  forget(wallets: ReadonlySet<number>): void {
    if (wallets.size === 0) return
    for (const key of [...this.#ends.keys()])
      if (wallets.has(Number(key.split('/', 1)[0]))) this.#ends.delete(key)
  }

  /**
   * Extends the chains by stored links. Returns the stretches that are in doubt: those with a link
   * that does not begin with what its account's end has, and those of links below the end.
   */
  async extend(links: readonly StoredLink[]): Promise<{ stretch: Stretch; isLate: boolean }[]> {
    const inOrder = [...links].sort(comparePlaces)
    await this.#load(inOrder)
    return inOrder.flatMap((link) => this.#extendBy(link) ?? [])
  }

  #extendBy(link: StoredLink): { stretch: Stretch; isLate: boolean } | null {
    const { wallet, account, slot, txIndex, before, after } = link
    const key = chainText(link)
    const end = this.#ends.get(key)?.end ?? null
    const order = end === null ? 1 : comparePlaces(link, end)
    if (order === 0) return null // stored again
    if (order < 0)
      return { stretch: { wallet, account, fromSlot: slot, toSlot: slot }, isLate: true }
    this.#ends.set(key, { end: { slot, txIndex, after } })
    if (end === null || before === null || before === end.after) return null
    return { stretch: { wallet, account, fromSlot: end.slot, toSlot: slot }, isLate: false }
  }

  /** Loads the ends before the first of the links of each account, where they are not in memory. */
  async #load(inOrder: readonly StoredLink[]): Promise<void> {
    const wanted = new Map<string, StoredLink>()
    for (const link of inOrder) {
      const key = chainText(link)
      if (!this.#ends.has(key) && !wanted.has(key)) wanted.set(key, link)
    }
    if (wanted.size === 0) return
    const first = [...wanted.values()]
    const [ends, openings] = await Promise.all([
      readEndsBefore(this.#store, first),
      this.#openings(first),
    ])
    for (const [key, link] of wanted) {
      const known = [ends.get(key), openings.get(key)].filter(
        (end) => end !== undefined && comparePlaces(end, link) < 0,
      ) as ChainEnd[] // the filter leaves no undefined
      this.#ends.set(key, { end: known.sort(comparePlaces).at(-1) ?? null })
    }
  }

  /** What accounts held when tracking began: nothing, if their wallet's snapshot lacks them. */
  async #openings(wanted: readonly ChainKey[]): Promise<Map<string, ChainEnd>> {
    const wallets = [...new Set(wanted.map(({ wallet }) => wallet))]
    const slots = await readSnapshotSlots(this.#store, wallets)
    const openings = new Map<string, ChainEnd>()
    for (const key of wanted) {
      const slot = slots.get(key.wallet)
      if (slot === undefined) continue
      openings.set(chainText(key), { slot, txIndex: SNAPSHOT_TX_INDEX, after: 0n })
    }
    const known = wanted.filter(({ wallet }) => slots.has(wallet))
    for (const snapshot of await readSnapshots(this.#store, known)) {
      const { slot, amount: after } = snapshot
      openings.set(chainText(snapshot), { slot, txIndex: SNAPSHOT_TX_INDEX, after })
    }
    return openings
  }
}
