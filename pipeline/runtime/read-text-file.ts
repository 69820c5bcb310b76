import { readFile } from 'node:fs/promises'
import { ServiceError } from '../domain/service-error.ts'
import { readFault } from './read-fault.ts'

/**
 * Returns the text of a file that `key` names: an environment variable, or a command's option.
 * Rejects with `bad_config`, naming key and file.
 */
export async function readTextFile(key: string, file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new ServiceError('bad_config', `${key}: cannot read ${file}: ${readFault(cause)}`, {
      cause,
    })
  })
}
