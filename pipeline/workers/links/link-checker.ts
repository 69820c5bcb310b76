import pMap from 'p-map'
import type { BalanceRecord, TokenAccountLink } from '../../domain/event.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import type { Store } from '../../store/store.ts'
import {
  type OpenRange,
  readBackfilledSince,
  readOpenRanges,
} from '../../store/tables/backfills.ts'
import { readSnapshotsSince } from '../../store/tables/balance-snapshots.ts'
import {
  breakText,
  breakWriter,
  type ChainBreak,
  readBreaks,
} from '../../store/tables/chain-breaks.ts'
import {
  chainText,
  readLinksBeyond,
  readSeams,
  type Seam,
  type StoredLink,
  type Stretch,
} from '../../store/tables/links.ts'
import type { LinkCheckMetrics } from '../telemetry.ts'
import { ChainEnds } from './chain-ends.ts'
import { type Doubt, Doubts, OPENS_AFTER_MS } from './doubts.ts'
import { checkStretch } from './stretch-check.ts'

/** Dependencies of the check. */
export interface LinkCheckerDeps {
  /** Waits while the server is down. */
  readonly store: Store
  readonly metrics: LinkCheckMetrics
  /** Whether this process stores the links of a wallet. */
  readonly isMine: (wallet: number) => boolean
  /** Milliseconds of the wall clock. */
  readonly now: () => number
}

/** Stretches looked at in one pass; the others wait for the next one. */
const STRETCHES_PER_PASS = 200
/** Links in memory. Beyond them their wallets are checked as a whole. */
const MAX_PENDING = 100_000
const LINKS_PER_PAGE = 50_000
/** All breaks that are not closed are looked at again after this long. */
const REVIEW_MS = 30_000
/** Clocks of processes and servers may differ by this much. */
const CLOCKS_APART_MS = 60_000
/** Wallets checked as a whole in one pass, and how many are looked at whether they may be. */
const WALLETS_PER_PASS = 4
const CANDIDATES_PER_PASS = 500
/** Late links of one wallet in one pass above which the wallet is checked as a whole. */
const MANY_LATE = 100
const SEAMS_PER_WALLET = 10_000

/**
 * Checks the chains of links of this process's wallets (rule K8): that each link begins with what
 * the previous one of its account ended with. Links in the order of the chain are compared in
 * memory. Whatever does not fit, or came late, is looked at in storage before a break is opened or
 * closed, so a link that was missed or noted twice does no harm.
 */
export class LinkChecker {
  readonly #deps: LinkCheckerDeps
  readonly #ends: ChainEnds
  readonly #doubts = new Doubts()
  readonly #writeBreaks: ReturnType<typeof breakWriter>
  #pending: StoredLink[] = []
  /**
   * The newest links that the last start read and that are not noted yet, of one page or two. The
   * fold may have been storing them then; it notes them with the end of its flush.
   */
  #read = new Set<string>()
  /** Wallets to check as a whole, when no backfill of theirs is open. */
  readonly #wallets = new Set<number>()
  /** When no wallet waited last, in milliseconds. Those that wait are in memory alone. */
  #allCheckedAt = 0
  /** Wallets that lost links with a withdrawn slot. Their ends in memory may be void. */
  #withdrawn = new Set<number>()
  /** Accounts that have a break that is not closed. */
  #broken = new Set<string>()
  #reviewedAt = 0
  /** Snapshots stored since then were not taken into account yet, in milliseconds. */
  #snapshotsSince = 0

  constructor(deps: LinkCheckerDeps) {
    this.#deps = deps
    this.#ends = new ChainEnds(deps.store)
    this.#writeBreaks = breakWriter(deps.store)
  }

  /** Notes the links among stored records. Neither blocks nor throws. */
  note(records: Iterable<{ readonly record: WalletRecord }>): void {
    for (const { record } of records) {
      if (record.kind !== 'balance' && record.kind !== 'token_link') continue
      if (this.#pending.length < MAX_PENDING) this.#pending.push(linkOf(record))
      else this.#wallets.add(record.wallet)
    }
  }

  /** Has wallets checked as a whole. */
  noteWallets(wallets: Iterable<number>): void {
    for (const wallet of wallets) this.#wallets.add(wallet)
  }

  /** Has wallets that lost links with a withdrawn slot (rule K9) checked as a whole. */
  noteWithdrawn(wallets: Iterable<number>): void {
    this.noteWallets(wallets)
    for (const wallet of wallets) this.#withdrawn.add(wallet)
  }

  /**
   * Starts again from what is stored, after a start or a change of partitions: links beyond the
   * slot of `position` may not have been checked, nor wallets whose backfill changed since its
   * time (unix seconds). Null: nothing was checked before.
   */
  async recover(position: { readonly slot: number; readonly time: number } | null): Promise<void> {
    const { store, isMine } = this.#deps
    this.#ends.clear()
    this.#doubts.clear()
    this.#read = new Set()
    this.#reviewedAt = 0
    this.#snapshotsSince = position === null ? 0 : position.time * 1000 - CLOCKS_APART_MS
    this.#allCheckedAt = position === null ? this.#deps.now() : position.time * 1000
    if (position === null) return
    const backfilled = await readBackfilledSince(store, position.time * 1000)
    this.noteWallets(backfilled.filter(isMine))
    for (let from = position.slot; ; ) {
      const links = await readLinksBeyond(store, from, LINKS_PER_PAGE)
      const mine = links.filter(({ wallet }) => isMine(wallet))
      await this.#extend(mine)
      const isFull = links.length === LINKS_PER_PAGE
      this.#read = new Set([...(isFull ? [] : this.#read), ...mine.map(linkText)])
      this.#pending = this.#pending.filter((link) => !this.#wasRead(link))
      const last = links.at(-1)?.slot
      if (last === undefined || links.length < LINKS_PER_PAGE) return
      from = Math.max(last - 1, from + 1) // the last slot may not be complete
    }
  }

  /**
   * Checks what was noted. Returns the position for `recover`: the slot below which nothing is in
   * doubt or unchecked, and the time (unix seconds) up to which every wallet whose backfill changed
   * is checked.
   */
  async pass(): Promise<{ readonly slot: number; readonly time: number }> {
    const links = this.#pending.filter((link) => !this.#wasRead(link))
    this.#pending = []
    this.#ends.forget(this.#withdrawn)
    this.#withdrawn.clear()
    await this.#extend(links)
    await this.#review()
    const now = this.#deps.now()
    const due = this.#doubts.take(now, STRETCHES_PER_PASS)
    if (due.length > 0 || this.#wallets.size > 0) await this.#look(due, now)
    if (this.#wallets.size === 0) this.#allCheckedAt = now
    return { slot: this.#doubts.lowestSlot, time: Math.floor(this.#allCheckedAt / 1000) }
  }

  /** Whether a noted link was read by the last start, which makes it neither new nor late. */
  #wasRead(link: StoredLink): boolean {
    return this.#read.size > 0 && this.#read.delete(linkText(link))
  }

  async #extend(links: readonly StoredLink[]): Promise<void> {
    if (links.length === 0) return
    const doubtful = await this.#ends.extend(links)
    this.#deps.metrics.links.inc({ outcome: 'fits' }, links.length - doubtful.length)
    const late = new Map<number, number>()
    for (const { stretch, isLate } of doubtful) {
      this.#deps.metrics.links.inc({ outcome: isLate ? 'late' : 'doubtful' })
      const count = (late.get(stretch.wallet) ?? 0) + Number(isLate)
      late.set(stretch.wallet, count)
      if (count > MANY_LATE) this.#wallets.add(stretch.wallet)
      else this.#doubt(stretch)
    }
  }

  /** A late link may close a break at once; to open one takes longer. */
  #doubt(stretch: Stretch, seenAt = this.#deps.now()): void {
    const isBroken = this.#broken.has(chainText(stretch))
    const dueAt = isBroken ? this.#deps.now() : seenAt + OPENS_AFTER_MS
    if (!this.#doubts.add(stretch, seenAt, dueAt)) this.#wallets.add(stretch.wallet)
  }

  /** Looks at stretches and whole wallets, except where a backfill is still under way. */
  async #look(due: readonly Doubt[], now: number): Promise<void> {
    const candidates = [...this.#wallets].slice(0, CANDIDATES_PER_PASS)
    const open = await readOpenRanges(this.#deps.store, [
      ...new Set([...due.map(({ stretch }) => stretch.wallet), ...candidates]),
    ])
    const ready = due.filter(({ stretch }) => {
      const isWaiting = open.some((range) => overlaps(range, stretch))
      if (isWaiting) this.#wallets.add(stretch.wallet)
      return !isWaiting
    })
    const changes = await pMap(ready, (doubt) => this.#lookAt(doubt, now), { concurrency: 4 })
    await this.#writeBreaks(changes.flat())
    const isOpen = new Set(open.map(({ wallet }) => wallet))
    let left = WALLETS_PER_PASS
    for (const wallet of candidates) {
      if (left === 0) return
      this.#wallets.delete(wallet)
      if (isOpen.has(wallet))
        this.#wallets.add(wallet) // now the last one
      else {
        left -= 1
        await this.#lookAtWallet(wallet)
      }
    }
  }

  /** Returns the breaks to store. */
  async #lookAt({ stretch, seenAt }: Doubt, now: number): Promise<readonly ChainBreak[]> {
    const { store, metrics } = this.#deps
    const mayOpen = now - seenAt >= OPENS_AFTER_MS
    const seconds = Math.floor(now / 1000)
    const { opened, closed, young } = await checkStretch(store, stretch, mayOpen, seconds)
    for (const seam of young) this.#doubts.add(stretchOf(seam), seenAt, seenAt + OPENS_AFTER_MS)
    if (opened.length > 0) this.#broken.add(chainText(stretch))
    metrics.breaks.inc({ change: 'opened' }, opened.length)
    metrics.breaks.inc({ change: 'closed' }, closed.length)
    return [...opened, ...closed]
  }

  /** Puts in doubt what does not fit in the chains of a wallet, and its breaks. */
  async #lookAtWallet(wallet: number): Promise<void> {
    const { store } = this.#deps
    const [seams, breaks] = await Promise.all([
      readSeams(store, wallet, null, SEAMS_PER_WALLET),
      readBreaks(store, ['open', 'unexplained', 'accepted'], { wallet }),
    ])
    const known = new Set(breaks.map(breakText))
    const unknown = seams.filter((seam) => !known.has(breakText(seam)))
    for (const seam of [...unknown, ...breaks]) this.#doubt(stretchOf(seam))
    if (seams.length === SEAMS_PER_WALLET && unknown.length > 0) this.#wallets.add(wallet)
  }

  /** Looks at all breaks that are not closed from time to time, and for new snapshots. */
  async #review(): Promise<void> {
    const { store, metrics, isMine, now } = this.#deps
    if (now() - this.#reviewedAt < REVIEW_MS) return
    this.#reviewedAt = now()
    const since = this.#snapshotsSince
    this.#snapshotsSince = Date.now() - CLOCKS_APART_MS
    this.noteWallets((await readSnapshotsSince(store, since)).filter(isMine))
    const breaks = await readBreaks(store, ['open', 'unexplained'])
    const mine = breaks.filter(({ wallet }) => isMine(wallet))
    this.#broken = new Set(mine.map(chainText))
    for (const found of mine) this.#doubt(stretchOf(found))
    const open = mine.filter(({ state }) => state === 'open')
    metrics.open.set({ state: 'open' }, open.length)
    metrics.open.set({ state: 'unexplained' }, mine.length - open.length)
    const oldest = Math.min(...open.map(({ openedAt }) => openedAt))
    metrics.oldest.set(open.length === 0 ? 0 : Math.max(0, Math.floor(now() / 1000) - oldest))
  }
}

function linkOf(record: BalanceRecord | TokenAccountLink): StoredLink {
  const { wallet, slot, txIndex } = record
  return record.kind === 'balance'
    ? {
        wallet,
        account: '',
        slot,
        txIndex,
        mint: '',
        before: record.lamportsBefore,
        after: record.lamports,
      }
    : {
        wallet,
        account: record.account,
        slot,
        txIndex,
        mint: record.mint,
        before: record.before,
        after: record.after,
      }
}

function linkText({ wallet, account, slot, txIndex, before, after }: StoredLink): string {
  return `${wallet}/${account}/${slot}/${txIndex}/${before}/${after}`
}

function stretchOf({ wallet, account, slot, from }: Seam): Stretch {
  return { wallet, account, fromSlot: from.slot, toSlot: slot }
}

function overlaps({ wallet, fromSlot, toSlot }: OpenRange, stretch: Stretch): boolean {
  return wallet === stretch.wallet && fromSlot <= stretch.toSlot && toSlot >= stretch.fromSlot
}
