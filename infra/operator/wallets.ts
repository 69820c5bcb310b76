import { aliasOf } from '../../pipeline/domain/alias.ts'
import { optionCommand } from './command.ts'

/** `wallets`: every tracked wallet with its address, its first and last event, and since when its history is complete. */
export const wallets = optionCommand({
  name: 'wallets',
  usage: '',
  options: {},
  async run(_options, { store }) {
    const rows = await store.query<{
      wallet: number
      address: string
      added_at: number
      first_event_at: number | null
      last_event_at: number | null
    }>(QUERY)
    return {
      document: {
        items: rows.map(({ wallet, address, added_at, first_event_at, last_event_at }) => ({
          alias: aliasOf(wallet),
          address,
          first_event_at,
          last_event_at,
          complete_since: added_at,
        })),
      },
    }
  },
})

const EVENTS = ['swaps', 'transfers', 'sol_transfers']
  .map((table) => `SELECT wallet, block_time FROM ${table} FINAL`)
  .join(' UNION ALL ')

const QUERY = `
  SELECT wallet, address, added_at, first_event_at, last_event_at
  FROM (SELECT wallet, address, added_at FROM tracked_wallets FINAL) AS tracked
  LEFT JOIN (
    SELECT wallet, toNullable(min(block_time)) AS first_event_at, toNullable(max(block_time)) AS last_event_at
    FROM (${EVENTS}) GROUP BY wallet
  ) AS events USING wallet
  ORDER BY wallet`
