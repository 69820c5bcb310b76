import { optionCommand } from './command.ts'

/**
 * `programs`: lists unknown programs, the most recently seen first. They are behind swaps that only
 * balance changes show (`delta_only`), and behind undecoded transactions. The sample signature is
 * that of the newest such event: a start for adding the venue.
 */
export const programs = optionCommand({
  name: 'programs',
  summary: 'Lists programs that no decoder knows.',
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
