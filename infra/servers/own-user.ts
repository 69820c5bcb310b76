import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { makeFolder } from '../../pipeline/runtime/make-folder.ts'

/** The operating-system user that a server runs as. */
export interface OwnUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/**
 * Returns the user of a server, `tracked-wallets-<server>`, after creating a missing one. Null if
 * this process is not root, or if the user could not enter `dir`. The server then runs as the
 * caller, and a warning on stderr says how to fix that.
 */
export function ownUserOf(server: string, dir: string): OwnUser | null {
  if (process.getuid?.() !== 0) return null
  const closed = closedFolder(dir)
  if (closed !== null) {
    warn(server, `its own user cannot enter ${closed}: chmod o+x it, or choose another --data`)
    return null
  }
  const name = `tracked-wallets-${server}`
  const known = lookUp(name)
  if (known) return known
  try {
    const options = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']
    execFileSync('useradd', [...options, '--shell', '/usr/sbin/nologin', name], { stdio: 'pipe' })
  } catch (error) {
    // Another command may have created the user meanwhile.
    if (!lookUp(name)) warn(server, `useradd failed: ${String(error)}`)
  }
  return lookUp(name)
}

/** Creates a folder for `owner`. Owner and mode of an existing folder are set again. */
export function makeOwnFolder(
  folder: string,
  mode: number,
  owner: { readonly uid: number; readonly gid: number } | null,
): void {
  makeFolder(folder, mode)
  if (owner) chownSync(folder, owner.uid, owner.gid)
  chmodSync(folder, mode)
}

/** Gives a folder and its content to the user: a server that ran as root left root's files. */
export function giveTo(owner: OwnUser | null, folder: string): void {
  if (owner === null || statSync(folder).uid === owner.uid) return
  execFileSync('chown', ['-R', '-P', `${owner.uid}:${owner.gid}`, folder])
}

function lookUp(name: string): OwnUser | null {
  try {
    const id = (option: string) =>
      Number(execFileSync('id', [option, name], { encoding: 'utf8', stdio: 'pipe' }))
    return { name, uid: id('-u'), gid: id('-g') }
  } catch {
    return null
  }
}

/** The nearest folder above `path` that users other than its owner cannot enter. */
export function closedFolder(path: string): string | null {
  for (let at = dirname(resolve(path)); ; at = dirname(at)) {
    const mode = statSync(at, { throwIfNoEntry: false })?.mode
    if (mode !== undefined && (mode & 0o001) === 0) return at
    if (at === dirname(at)) return null
  }
}

function warn(server: string, why: string): void {
  process.stderr.write(`WARNING: ${server} runs as root and can read every file: ${why}\n`)
}
