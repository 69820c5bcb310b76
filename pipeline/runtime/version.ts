import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const PACKAGE = join(import.meta.dirname, '../../../package.json')

/** The version of the service from `package.json`, for example `1.0.0`. */
export const VERSION = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(PACKAGE, 'utf8'))).version
