import { readUnknownPrograms } from '../../pipeline/store/tables/decoded-rows.ts'
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
    return { document: { items: await readUnknownPrograms(store) } }
  },
})
