import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { createState, readState, type ServersState, writeState } from './state.ts'

test('a data folder that is older than a role keeps its passwords, and gets one for the role', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'state-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const state = createState()
  const { webhooks, ...older } = state.secrets.rolePasswords
  writeState(dir, {
    ...state,
    secrets: { ...state.secrets, rolePasswords: older as ServersState['secrets']['rolePasswords'] },
  })
  const read = readState(dir)
  const { webhooks: added = '' } = read?.secrets.rolePasswords ?? {}
  t.regex(added, /^[0-9a-f]{36}$/)
  t.not(added, webhooks)
  t.deepEqual(read, {
    ...state,
    secrets: { ...state.secrets, rolePasswords: { ...older, webhooks: added } },
  })
})
