import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { makeFolder } from '../../pipeline/runtime/make-folder.ts'
import { identifyProcess, isRunning } from './process-identity.ts'
import { readState } from './state.ts'

/**
 * Runs `work` while this process holds the lock of a data folder. Other commands wait for the lock;
 * after `waitMs` they reject with `unavailable`. The lock of a dead process is taken over.
 */
export async function withFolderLock<T>(
  dir: string,
  waitMs: number,
  work: () => Promise<T>,
): Promise<T> {
  readState(dir) // refuses a foreign folder before anything is written to it
  try {
    makeFolder(dir, 0o700)
  } catch (cause) {
    throw new ServiceError('invalid_argument', `--data ${resolve(dir)}: cannot be made`, { cause })
  }
  const lock = join(dir, 'lock')
  for (const deadline = Date.now() + waitMs; ; await delay(50)) {
    if (takeLock(lock)) break
    if (Date.now() > deadline)
      throw new ServiceError('unavailable', `another command has been working on ${dir} for long`)
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

const Holder = z.object({ pid: z.int(), startTicks: z.int(), bootId: z.string() })

function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, JSON.stringify(identifyProcess(process.pid)), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  try {
    const holder = Holder.safeParse(JSON.parse(readFileSync(lock, 'utf8')))
    if (holder.success && !isRunning(holder.data)) rmSync(lock, { force: true })
  } catch {
    // The owner is writing the lock file, or has just removed it.
  }
  return false
}
