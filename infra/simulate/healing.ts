import { SNAPSHOT_TX_INDEX } from '../../pipeline/store/tables/balance-snapshots.ts'
import { comparePlaces, type LinkPlace } from '../../pipeline/store/tables/links.ts'
import { percentiles } from '../bench/kit/figures.ts'
import { SLOT_MS } from '../simulator/market/slot-time.ts'
import { OMISSIONS, type Omission } from '../simulator/options.ts'
import type { Simulator } from '../simulator/simulator.ts'
import type { Query } from './compare.ts'
import type { MarketTimes } from './market-times.ts'
import type { TrueChain } from './true-chain.ts'

/** How a balance record or link that the stream left out came back. */
export interface Healed {
  readonly kind: Omission
  /**
   * `repair`: of a break before the account's next transaction; `reconcile`: of a break before
   * what `operator reconcile` found. `comparison`: with RPC after a cut or a restart, perhaps
   * before a break opened; no time is measured.
   */
  readonly by: 'repair' | 'reconcile' | 'comparison'
  /** Wall clock from the account's next transaction to the closing of its break. */
  readonly seconds: number
  /** The same in time of the market, which passes as fast as the run lets it. */
  readonly marketSeconds: number
}

/** What the measurement needs to know of a run. */
export interface HealingDeps {
  readonly query: Query
  readonly chain: TrueChain
  readonly simulator: Simulator
  readonly times: MarketTimes
  /** When streams were cut by the script, in unix milliseconds. */
  readonly cuts: readonly number[]
}

interface BreakRow {
  readonly wallet: number
  readonly account: string
  readonly from_slot: string
  readonly from_tx_index: number
  readonly slot: string
  readonly tx_index: number
  /** When it was closed, in unix milliseconds. */
  readonly version: string
}

interface Break extends LinkPlace {
  readonly wallet: number
  readonly account: string
  readonly from: LinkPlace
  readonly closedMs: number
}

/** Measures how each record that the stream left out came back, after everything has settled. */
export async function measureHealing(deps: HealingDeps): Promise<Healed[]> {
  const { query, chain, simulator } = deps
  const rows = await query<BreakRow>(
    `SELECT wallet, account, from_slot, from_tx_index, slot, tx_index, version
     FROM chain_breaks FINAL WHERE state = 'closed' ORDER BY wallet, account, slot, tx_index`,
  )
  const breaks = rows.map(breakOf)
  const links = [...chain.balances.map((record) => ({ ...record, account: '' })), ...chain.links]
  const omitted = links.flatMap((link) => {
    const isFinal = simulator.forkAt(link.slot) === null
    const kind = isFinal ? simulator.omitted(link.slot).get(link.txIndex) : undefined
    return kind === undefined ? [] : [{ ...link, kind }]
  })
  return omitted.map((link) => {
    // The records of a transaction come back together.
    const own = omitted.filter((o) => o.wallet === link.wallet && comparePlaces(o, link) === 0)
    return {
      kind: link.kind,
      ...healingOf(
        breaks.filter((row) => own.some((record) => isWithin(record, row))),
        deps,
      ),
    }
  })
}

function isWithin(link: LinkPlace & { wallet: number; account: string }, row: Break): boolean {
  const isOfAccount = row.wallet === link.wallet && row.account === link.account
  return isOfAccount && comparePlaces(row.from, link) < 0 && comparePlaces(link, row) < 0
}

/** How a transaction came back that lay in these breaks. */
function healingOf(
  breaks: readonly Break[],
  { times, cuts }: Pick<HealingDeps, 'times' | 'cuts'>,
): Omit<Healed, 'kind'> {
  if (breaks.length === 0) return { by: 'comparison', seconds: 0, marketSeconds: 0 }
  const followed = breaks.filter(({ txIndex }) => txIndex !== SNAPSHOT_TX_INDEX)
  const nextSlot = Math.min(...(followed.length > 0 ? followed : breaks).map(({ slot }) => slot))
  const nextMs = times.timeOf(nextSlot)
  const closedMs = Math.max(...breaks.map((row) => row.closedMs))
  const isCut = cuts.some((ms) => ms >= nextMs && ms <= closedMs)
  return {
    by: isCut ? 'comparison' : followed.length > 0 ? 'repair' : 'reconcile',
    seconds: (closedMs - nextMs) / 1000,
    marketSeconds: ((times.slotAt(closedMs) - nextSlot) * SLOT_MS) / 1000,
  }
}

function breakOf(row: BreakRow): Break {
  return {
    wallet: row.wallet,
    account: row.account,
    from: { slot: Number(row.from_slot), txIndex: row.from_tx_index },
    slot: Number(row.slot),
    txIndex: row.tx_index,
    closedMs: Number(row.version),
  }
}

/** One line for each kind of omission. */
export function describeHealing(healed: readonly Healed[]): string[] {
  return OMISSIONS.map((kind) => {
    const own = healed.filter((record) => record.kind === kind)
    const of = (by: Healed['by']) => own.filter((record) => record.by === by)
    const repaired = of('repair')
    const timesOf = (values: readonly number[]) => {
      const [p50 = 0, p99 = 0] = percentiles(values, 0.5, 0.99)
      return `p50 ${p50.toFixed(1)} s, p99 ${p99.toFixed(1)} s`
    }
    const times =
      repaired.length === 0
        ? ''
        : ` (from the account's next transaction: ${timesOf(repaired.map((r) => r.seconds))}; of the market ${timesOf(repaired.map((r) => r.marketSeconds))})`
    return `healed ${kind}: ${own.length} records, by repair ${repaired.length}${times}, by reconcile ${of('reconcile').length}, by a comparison after a cut ${of('comparison').length}`
  })
}
