import { loadNamed } from './kit/load-named.ts'

/** A bench: exported by the file of its name. Prints its table to stdout. */
export interface Bench {
  run(args: readonly string[]): Promise<void>
}

const { module: bench, args } = await loadNamed<Bench>(import.meta.dirname, 'bench')
await bench.run(args)
