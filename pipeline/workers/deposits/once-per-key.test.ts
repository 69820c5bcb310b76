import test from 'ava'
import { createOncePerKey } from './once-per-key.ts'

test('a reading of a long history remembers only the newest transactions (K6)', async (t) => {
  const once = createOncePerKey(100, 7)
  const begun: string[] = []
  const begin = async (keys: readonly string[]) => {
    t.true(keys.length <= 7)
    begun.push(...keys)
  }
  const keys = Array.from({ length: 1000 }, (_, n) => `signature ${n}`)
  for (let at = 0; at < keys.length; at += 50) {
    const page = keys.slice(at, at + 50)
    await Promise.all([once.run(page, begin), once.run(page, begin)])
    t.true(once.size <= 100)
  }
  t.deepEqual(begun, keys)
  await t.throwsAsync(once.run(['lost'], () => Promise.reject(new Error('RPC is down'))))
})

test('a failure stays with its keys, and other keys are not affected', async (t) => {
  const once = createOncePerKey(100, 1)
  const failing = (batch: readonly string[]) =>
    batch.includes('lost') ? Promise.reject(new Error('RPC is down')) : Promise.resolve()
  await t.throwsAsync(once.run(['lost', 'found'], failing), { message: 'RPC is down' })
  await once.run(['found'], async () => t.fail())
  await t.throwsAsync(
    once.run(['lost'], async () => t.fail()),
    { message: 'RPC is down' },
  )
})
