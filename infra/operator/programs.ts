import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import { readUnknownPrograms } from '../../pipeline/store/tables/decoded-rows.ts'
import { optionCommand } from './command.ts'

/**
 * `programs`: ranks the programs behind swaps without a name (rules B10, B11a) by the SOL volume of
 * these swaps and by their number, those of undecoded transactions after them. The sample is the
 * signature of the newest such transaction, to start a decoder from. It names no wallet.
 */
export const programs = optionCommand({
  name: 'programs',
  summary: 'Ranks programs that no decoder knows.',
  async run(_options, { store }) {
    const programs = await readUnknownPrograms(store)
    const bySwaps = [...programs].sort((a, b) => b.swaps - a.swaps)
    const items = programs.map((program, at) => ({
      program_id: program.programId,
      rank_by_sol: at + 1,
      rank_by_swaps: bySwaps.indexOf(program) + 1,
      sol_volume: nearestNumber(program.lamports, LAMPORTS_PER_SOL),
      swaps: program.swaps,
      undecoded: program.undecoded,
      events: program.swaps + program.undecoded,
      sample_signature: program.sampleSignature,
    }))
    return { document: { items } }
  },
})
