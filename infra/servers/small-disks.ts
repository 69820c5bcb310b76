import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { makeFolder } from '../../pipeline/runtime/make-folder.ts'
import { serversOf } from './nodes.ts'
import { rewriteAppendOnlyFile } from './redis.ts'
import { killServers, startServers } from './servers.ts'
import { createState, type NodeName, readState, writeState } from './state.ts'

/** Settings of small disks. */
export interface SmallDisksOptions {
  /** Whether a new folder is one of clusters. */
  readonly cluster: boolean
  /** First port of the servers of a new folder; default 29000. */
  readonly portBase?: number
  /** Size of each disk in MiB. */
  readonly mb: number
}

/**
 * Mounts an empty file system of memory (tmpfs) for the data of each server of a folder, whose
 * servers must not run: so that a disk can be full without filling that of the machine. Returns
 * what unmounts them, once the servers have stopped; their data is gone then. Throws
 * `invalid_argument` if this process is not root.
 */
export function mountSmallDisks(dir: string, options: SmallDisksOptions): () => void {
  const { cluster, portBase, mb } = options
  if (process.getuid?.() !== 0)
    throw new ServiceError(
      'invalid_argument',
      'only root can give each server a small disk (tmpfs): run this as root',
    )
  const state = readState(dir) ?? createState(portBase, cluster)
  writeState(dir, state)
  const mounted: string[] = []
  const unmount = () => {
    for (const disk of mounted.splice(0)) execFileSync('umount', ['--lazy', disk])
  }
  try {
    for (const { name } of serversOf(state)) {
      const disk = join(dir, name, 'data')
      makeFolder(disk, 0o700)
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mb}m,mode=700`, 'tmpfs', disk])
      mounted.push(disk)
    }
  } catch (error) {
    unmount()
    throw error
  }
  return unmount
}

/** Fills the disk of a server: writes a file until there is no space left. */
export function fillDisk(dir: string, only: NodeName): void {
  const block = Buffer.alloc(1 << 20)
  const descriptor = openSync(fillerOf(dir, only), 'w')
  try {
    for (;;) writeSync(descriptor, block)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(descriptor)
  }
}

/** Frees a disk that `fillDisk` filled, and starts its server again if that has ended. */
export async function freeDisk(dir: string, only: NodeName): Promise<void> {
  rmSync(fillerOf(dir, only))
  const state = readState(dir)
  const server = state && serversOf(state).find(({ name }) => name === only)
  if (state && server?.kind === 'redis') {
    const { port = 0 } = server.ports(state.portBase)
    await rewriteAppendOnlyFile(port, state.secrets.redisPassword)
  }
  // A broker whose disk is full ends at some time, and so does a replica of Redis.
  if (/^(kafka|redis-)/.test(only)) await killServers(dir, { only })
  await startServers(dir, { only })
}

/** The file that fills the disk of a server. */
export function fillerOf(dir: string, only: NodeName): string {
  return join(dir, only, 'data/filler')
}
