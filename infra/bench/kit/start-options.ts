import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../whole-service/service-process.ts'

/** The options of Node with which `npm start` runs the service. */
export function startOptions(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return scripts.start.match(/--\S+/g)
}
