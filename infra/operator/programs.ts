import { optionCommand } from './command.ts'

/**
 * `programs`: programs that are not in the table of venues, behind swaps seen only by their balance changes and behind transactions that could not be decoded; the
 * one seen last first. The signature is of the newest such event: where to look when a venue is to be added.
 */
export const programs = optionCommand({
  name: 'programs',
  usage: '',
  options: {},
  async run(_options, { store }) {
    return { document: { items: await store.query(QUERY) } }
  },
})

const QUERY = `
  SELECT program_id, toUInt32(count()) AS events, argMax(signature, slot) AS sample_signature
  FROM (
    SELECT program_id, signature, slot FROM swaps FINAL WHERE confidence = 'delta_only'
    UNION ALL
    SELECT assumeNotNull(program_id), signature, slot FROM undecoded FINAL WHERE program_id IS NOT NULL
  )
  GROUP BY program_id
  ORDER BY max(slot) DESC, program_id
  LIMIT 10000`
