import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Command } from './command.ts'

const MAX_ROWS = 100_000

/**
 * `sql '<select>'`: runs one query that only reads. 64-bit and wider integers come as decimal strings. The query stands inside another one, where nothing but a
 * SELECT is grammatical: neither a second statement nor one that writes.
 */
export const sql: Command = {
  name: 'sql',
  usage: `'<select>'`,
  async run(args, { store }) {
    const [query, ...more] = args
    if (query === undefined || more.length > 0) {
      throw new ServiceError('invalid_argument', 'expected one query, in quotes')
    }
    const items = await ask(
      store.query<unknown>(`SELECT * FROM (\n${query}\n) LIMIT ${MAX_ROWS + 1}`),
    )
    if (items.length > MAX_ROWS) {
      throw new ServiceError('invalid_argument', `more than ${MAX_ROWS} rows: add a LIMIT`)
    }
    return { document: { items } }
  },
}

/** What ClickHouse refuses is the operator's to mend: its own words, in one line. */
async function ask<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.code !== 'internal') throw error
    const cause = error.cause instanceof Error ? error.cause.message : error.message
    throw new ServiceError('invalid_argument', cause.split('\n')[0] ?? 'refused', { cause: error })
  })
}
