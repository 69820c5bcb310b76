import { aliasOf } from '../../pipeline/domain/alias.ts'
import { OPEN_GAPS } from '../../pipeline/store/tables/backfills.ts'
import { TRACKED } from '../../pipeline/store/tables/tracked-wallets.ts'
import { COVERAGE } from '../../pipeline/store/tables/wallet-coverage.ts'
import { EVENT_TIMES } from '../../pipeline/store/tables/wallet-events.ts'
import { VERIFIED } from '../../pipeline/store/tables/wallet-verifications.ts'
import { optionCommand } from './command.ts'

/**
 * `wallets`: lists every tracked wallet with its address, first and last event, the time since
 * which its history is complete (null: not yet), and the gaps that are not backfilled yet. While a
 * gap is open, the complete history begins after it. `verified_through_slot`: up to there the
 * balances of the wallet prove that nothing is missing (rule K8; null: not verified).
 */
export const walletsCommand = optionCommand({
  name: 'wallets',
  summary: 'Lists tracked wallets with the extent and the gaps of their history.',
  isRecorded: true, // it names every tracked wallet
  async run(_options, { store }) {
    const rows = await store.query<{
      wallet: number
      address: string
      first_event_at: number | null
      last_event_at: number | null
      complete_since: number | null
      verified_through_slot: string
      open_breaks: number
      unexplained_breaks: number
      gaps: [string, string][]
    }>(QUERY)
    return {
      document: {
        items: rows.map(({ wallet, address, gaps, verified_through_slot, ...times }) => ({
          alias: aliasOf(wallet),
          address,
          first_event_at: times.first_event_at,
          last_event_at: times.last_event_at,
          complete_since: times.complete_since,
          verified_through_slot: Number(verified_through_slot) || null,
          open_breaks: times.open_breaks,
          unexplained_breaks: times.unexplained_breaks,
          gaps: gaps.map(([from, to]) => ({
            from_slot: Number(from) || null,
            to_slot: Number(to) || null,
          })),
        })),
      },
    }
  },
})

const QUERY = `
  SELECT wallet, address, first_event_at, last_event_at,
    if(since_time = 0, NULL, greatest(since_time, gap_end)) AS complete_since, gaps,
    verified_through_slot, open_breaks, unexplained_breaks
  FROM (${TRACKED}) AS tracked
  LEFT JOIN (${EVENT_TIMES}) AS events USING wallet
  LEFT JOIN (${COVERAGE}) AS coverage USING wallet
  LEFT JOIN (${OPEN_GAPS}) AS open USING wallet
  LEFT JOIN (${VERIFIED}) AS verified USING wallet
  ORDER BY wallet`
