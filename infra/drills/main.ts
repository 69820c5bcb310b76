import { loadNamed } from '../bench/kit/load-named.ts'

/** A drill: exported by the file of its name. */
export interface Drill {
  /** Prints what was measured to stdout. Returns whether what the drill checks held. */
  run(args: readonly string[]): Promise<boolean>
}

const { module: drill, args } = await loadNamed<Drill>(import.meta.dirname, 'drill')
if (!(await drill.run(args))) process.exitCode = 1
