import { OMISSIONS } from '../simulator/options.ts'
import type { Simulator } from '../simulator/simulator.ts'
import type { Query } from './compare.ts'
import type { TrueChain } from './true-chain.ts'

/** `tx_index` of a link that is a snapshot. */
const SNAPSHOT = 0xffff_ffff
/** A break opens this many seconds after the account's next transaction (rule K8). */
const OPENS_AFTER_SECONDS = 10

interface BreakRow {
  readonly wallet: number
  readonly from_slot: string
  readonly slot: string
  readonly tx_index: number
  /** Seconds (wall clock) from its opening to its closing. */
  readonly seconds: string
}

/**
 * Describes how the transactions that the stream left out came back: for each kind of omission, how
 * many records were missing at first, and how long their breaks lasted from the account's next
 * transaction on. A record without a closed break around it came back before one opened, as with
 * the slots that a restart compares with RPC.
 */
export async function describeHealing(
  query: Query,
  chain: TrueChain,
  simulator: Simulator,
): Promise<string[]> {
  const breaks = await query<BreakRow>(
    `SELECT wallet, from_slot, slot, tx_index, changed_at - opened_at AS seconds
     FROM chain_breaks FINAL WHERE state = 'closed' ORDER BY slot`,
  )
  const found = new Map(
    OMISSIONS.map((kind) => [kind, { records: 0, reconciled: 0, seconds: [] as number[] }]),
  )
  for (const { slot, txIndex, wallet } of [...chain.balances, ...chain.links]) {
    const kind = simulator.omitted(slot).get(txIndex)
    const counted = kind === undefined ? undefined : found.get(kind)
    if (counted === undefined) continue
    counted.records += 1
    const around = breaks.find(
      (row) => row.wallet === wallet && Number(row.from_slot) <= slot && slot <= Number(row.slot),
    )
    if (around === undefined) continue
    if (around.tx_index === SNAPSHOT) counted.reconciled += 1
    else counted.seconds.push(Number(around.seconds) + OPENS_AFTER_SECONDS)
  }
  return [...found].map(([kind, { records, reconciled, seconds }]) => {
    const sorted = seconds.sort((a, b) => a - b)
    const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0
    return `healed ${kind}: ${records} records, of ${sorted.length} after p50 ${at(0.5)} s, p99 ${at(0.99)} s, ${reconciled} by reconcile`
  })
}
