import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { modeFault, readSecretFiles, SECRET_KEYS, secretFilesOf } from './secret-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'secret-files-'))
test.after.always('remove', () => rmSync(folder, { recursive: true, force: true }))

test('each secret may come from a file, and its text is trimmed', (t) => {
  const env: Record<string, string> = { LOG_LEVEL: 'info', SECRET_KEY_FILE: '' }
  const expected: Record<string, string> = {}
  for (const key of SECRET_KEYS.slice(1)) {
    env[`${key}_FILE`] = join(folder, key)
    writeFileSync(join(folder, key), ` the ${key}\n`)
    expected[key] = `the ${key}`
  }
  t.deepEqual(readSecretFiles(env), { ...env, ...expected })
  t.deepEqual(
    [...secretFilesOf(env).keys()],
    Object.keys(expected).map((key) => `${key}_FILE`),
  )
})

test('only the service may read its own secret file; provided files and folders may be readable', (t) => {
  const SERVICE = 1000
  const ROOT = 0
  const OTHER = 1001
  const cases = [
    [SERVICE, 0o600, 'file', null],
    [SERVICE, 0o400, 'file', null],
    [SERVICE, 0o700, 'folder', null],
    [SERVICE, 0o640, 'file', 'can be read by other users (mode 0640): chmod 600'],
    [SERVICE, 0o602, 'file', 'can be written by other users (mode 0602): chmod 600'],
    [SERVICE, 0o755, 'folder', null],
    [SERVICE, 0o775, 'folder', 'can be written by other users (mode 0775): chmod go-w'],
    [OTHER, 0o755, 'folder', null],
    [ROOT, 0o444, 'file', null],
    [ROOT, 0o464, 'file', 'can be written by other users (mode 0464): chmod go-w'],
    [OTHER, 0o444, 'file', 'belongs to another user (1001): chown 1000'],
    [OTHER, 0o444, 'mount', null],
    [SERVICE, 0o644, 'mount', null],
    [OTHER, 0o446, 'mount', 'can be written by other users (mode 0446): chmod go-w'],
  ] as const
  for (const [uid, mode, kind, fault] of cases)
    t.is(modeFault({ uid, mode, kind }, SERVICE), fault, `${uid} ${mode.toString(8)} ${kind}`)
})
