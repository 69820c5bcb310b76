import { spawn } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import pLimit from 'p-limit'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { closedFolder, type OwnUser } from './own-user.ts'

/** One after the other, because the nodes of a cluster start at once and miss the same. */
const installing = pLimit(1)
const filling = pLimit(1)

/**
 * Returns the path of a command, after installing its Debian package if it is missing. Rejects with
 * `unavailable` when that fails.
 */
export function ensureCommand(command: string, debianPackage: string): Promise<string> {
  return installing(() => installCommand(command, debianPackage))
}

async function installCommand(command: string, debianPackage: string): Promise<string> {
  const found = findCommand(command)
  if (found) return found
  process.stderr.write(`installing ${debianPackage} with apt-get\n`)
  const install = ['install', '-y', '-qq', '--no-install-recommends', debianPackage]
  await execute('apt-get', ['update', '-qq']).catch(() => {})
  await execute('apt-get', install).catch((cause: unknown) => {
    throw new ServiceError(
      'unavailable',
      `${command} is missing and could not be installed: as root, run apt-get install ${debianPackage}`,
      { cause },
    )
  })
  const installed = findCommand(command)
  if (installed) return installed
  throw new ServiceError('unavailable', `${debianPackage} is installed but has no ${command}`)
}

/**
 * Returns the path of libfaketime, which gives a process another clock, after installing it if it
 * is missing. Rejects like `ensureCommand`.
 */
export async function ensureFakeTime(): Promise<string> {
  await ensureCommand('faketime', 'faketime')
  const file = readdirSync('/usr/lib')
    .map((folder) => join('/usr/lib', folder, 'faketime/libfaketimeMT.so.1'))
    .find(existsSync)
  if (file !== undefined) return file
  throw new ServiceError('unavailable', 'faketime is installed, and its library is not in /usr/lib')
}

/**
 * Returns a cached folder of downloads, shared by all data folders. `fill` fills a missing one
 * under another name. It is then renamed, so an interrupted download leaves no incomplete folder.
 */
export function ensureCached(name: string, fill: (folder: string) => Promise<void>) {
  return filling(() => fillCached(name, fill))
}

async function fillCached(name: string, fill: (folder: string) => Promise<void>) {
  // The servers' own users cannot enter root's home.
  const caches = isRoot() ? '/var/cache' : process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const cache = join(caches, 'tracked-wallets')
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const draft = mkdtempSync(join(cache, `${name}-`))
  await fill(draft)
  if (isRoot()) await execute('chmod', ['-R', 'a+rX', cache])
  try {
    renameSync(draft, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error // else another process was faster
  }
  return folder
}

const isRoot = () => process.getuid?.() === 0

/** Runs a command with its output on stderr. Resolves when it ends, rejects when it fails. */
export function execute(
  command: string,
  args: readonly string[],
  { cwd, user = null }: { readonly cwd?: string; readonly user?: OwnUser | null } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      ...(cwd === undefined ? {} : { cwd }),
      ...(user && { uid: user.uid, gid: user.gid }),
    })
    child.once('error', reject)
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}`)),
    )
  })
}

function findCommand(command: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, command))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return !isRoot() || closedFolder(realpathSync(file)) === null
      } catch {
        return false
      }
    })
}
