import { readUnknownPrograms } from '../../pipeline/store/tables/decoded-rows.ts'
import { optionCommand } from './command.ts'

/**
 * `programs`: lists unknown programs, the most recently seen first. A program is unknown if its
 * swaps are inferred from balance changes (`delta_only`) or its transactions are not decoded. The
 * sample signature is that of its newest such event, to start a decoder from.
 */
export const programs = optionCommand({
  name: 'programs',
  summary: 'Lists programs that no decoder knows.',
  async run(_options, { store }) {
    return { document: { items: await readUnknownPrograms(store) } }
  },
})
