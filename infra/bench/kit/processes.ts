import { fork } from 'node:child_process'
import { once } from 'node:events'

/**
 * Starts a separate process that runs a bench with these words and flags. Resolves with its first
 * message; the process ends when it is disconnected.
 */
export async function forkBench<T>(args: readonly string[], execArgv: readonly string[] = []) {
  const [, main = ''] = process.argv
  const child = fork(main, args, { execArgv: [...execArgv] })
  const [message]: T[] = await once(child, 'message')
  if (message === undefined) throw new Error('the process did not start')
  return { child, message }
}
