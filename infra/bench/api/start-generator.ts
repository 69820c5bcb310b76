import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ServiceProcess, startProcess } from '../../whole-service/service-process.ts'
import type { ArrivalOptions, Arrivals } from './arrivals.ts'

/** What the process of `startGenerator` prints as `result=`, in JSON. */
export type GeneratorResult = Omit<Arrivals, 'times'>

/**
 * Starts a load generator as a process of its own; `generator.ts` has the lines that it prints. Its
 * options, which have a key, are written to a file in `folder`.
 */
export function startGenerator(folder: string, options: ArrivalOptions): ServiceProcess {
  const file = join(folder, 'arrivals.json')
  writeFileSync(file, JSON.stringify(options))
  return startProcess('infra/bench/api/generator.js', { OPTIONS: file })
}
